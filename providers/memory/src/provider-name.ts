/** A provider of another name than `memory`: its provider IDs begin with that, whatever those of its cloud do. */

/** `memory://region-1/a` as the provider of this name gives it. */
export function named(providerID: string, name: string): string {
  return providerID.replace(/^[^:]+(?=:\/\/)/, name);
}
