// Tests of StrictJSON.
