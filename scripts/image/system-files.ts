/** Files of the machine, and of Node's package, that go into an image beside the program. Pure. */
import { join } from 'node:path';
import type { SharedLibrary } from './shared-libraries.ts';
import type { ShippedNode } from './shipped-node.ts';

/** `to`: in the image. */
export interface SystemFile {
  readonly from: string;
  readonly to: string;
}

/** The libraries, and the terms under which they and Node are handed on. */
export function systemFiles(libraries: readonly SharedLibrary[], node: ShippedNode): readonly SystemFile[] {
  const files = libraries.flatMap(({ path, source }) => [path, ...(source?.terms ? [source.terms.path] : [])]);
  const license = { from: join(node.path, '../../LICENSE'), to: '/usr/share/doc/node/LICENSE' };
  return [license, ...[...new Set(files)].map((path) => ({ from: path, to: path }))];
}
