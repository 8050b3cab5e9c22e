/** Of a target that was imported. A retry makes at most 100; the sweep of posts may add some. */
export const MAX_GENERATION = 1_000;
