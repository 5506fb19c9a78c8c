// Tests of HTTPEngine.
