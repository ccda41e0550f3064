/** As in the `matchImages` of the shipped configuration. */
export const GCR_REGISTRIES: readonly string[] = ['gcr.io', '*.gcr.io', '*.pkg.dev', 'container.cloud.google.com'];
