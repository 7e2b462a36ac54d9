"""Forms as other programs keep them: Qualtrics, LimeSurvey, XLSForm, DDI-Codebook, Word; a file for each format."""
