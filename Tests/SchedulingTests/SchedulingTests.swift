// Tests of Scheduling.
