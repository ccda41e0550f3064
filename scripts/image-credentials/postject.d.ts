/** Postject has no declarations of its own. */
declare module 'postject' {
  export function inject(
    file: string,
    resource: string,
    data: Uint8Array,
    options: { readonly sentinelFuse: string },
  ): Promise<void>;
}
