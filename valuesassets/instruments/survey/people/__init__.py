"""How `respondents` come about: files of surveys read and recoded, or people drawn from the plants."""
