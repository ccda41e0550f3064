/** Objects of Kubernetes as a file that `kubectl apply -f` takes, and that people read and edit. */

/** Lists of such words are written on one line. */
const WORD = /^[\w./*-]*$/u;

/** One document each. The same text for the same objects, so that it can be compared. */
export async function yamlDocuments(objects: readonly object[]): Promise<string> {
  // Loaded where it is needed: the program itself starts without.
  const { Document, isScalar, visit } = await import('yaml');
  const texts = objects.map((object) => {
    const document = new Document(object, { aliasDuplicateObjects: false });
    visit(document, {
      Seq: (_key, list) => {
        const isWords = list.items.every((item) => isScalar(item) && WORD.test(String(item.value)));
        // Flags are edited one by one.
        const isFlags = list.items.some((item) => isScalar(item) && String(item.value).startsWith('-'));
        list.flow = isWords && !isFlags;
      },
    });
    return document.toString({ lineWidth: 0, flowCollectionPadding: false });
  });
  return texts.join('---\n');
}
