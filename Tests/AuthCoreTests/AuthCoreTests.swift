// Tests of AuthCore.
