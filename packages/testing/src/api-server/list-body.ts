/** A list on its way out, piece by piece: 5,000 nodes are 50 MB, which are never in one piece. */
import type { ObjectPage } from './list.ts';
import type { Encoder } from './representation.ts';

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

export function* listBody(page: ObjectPage, encoder: Encoder): Generator<Buffer> {
  yield encoder.listHead({
    resourceVersion: String(page.revision),
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  });
  let first = true;
  for (const object of page.objects) {
    if (!first) yield COMMA;
    first = false;
    yield encoder.listItem(object);
  }
  yield END;
}
