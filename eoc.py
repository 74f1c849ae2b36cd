"""placeholder until commands land"""
