// Tests of AuthStorage.
