/** Histogram bounds in seconds of upstream's `rest_client_*_duration_seconds` (kubernetes/kubernetes#106911). */
export const REQUEST_BUCKETS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
