"""Study files and what ships with them: questionnaires, lexicons, facts."""
