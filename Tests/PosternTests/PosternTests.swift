// Tests of Postern.
