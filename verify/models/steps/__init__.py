"""Operations of real models, one file a family; each file defines OPERATIONS, torch's names and how they are read."""
