/** Files of a test, in a folder that goes with it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface TemporaryFiles extends Disposable {
  /** Its path. */
  write(name: string, text: string): string;
}

export function temporaryFiles(): TemporaryFiles {
  const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-image-credentials-'));
  return {
    write: (name, text) => {
      const file = path.join(folder, name);
      writeFileSync(file, text);
      return file;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
