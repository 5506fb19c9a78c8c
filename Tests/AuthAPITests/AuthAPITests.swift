// Tests of AuthAPI.
