/** Objects of Kubernetes as a file that `kubectl apply -f` takes. */

/** One document each. The same text for the same objects, so that it can be compared. */
export async function yamlDocuments(objects: readonly object[]): Promise<string> {
  // Loaded where it is needed: the program itself starts without.
  const { stringify } = await import('yaml');
  return objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })).join('---\n');
}
