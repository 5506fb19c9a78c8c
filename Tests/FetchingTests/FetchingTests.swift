// Tests of Fetching.
