/** `make packages`: the tarballs that can be installed without this repository, in `dist/packages`. */
import { join, relative } from 'node:path';
import { makePackages } from './packages/make-packages.ts';
import { repository } from './packages/workspace-packages.ts';

for (const { bytes, file, files } of makePackages({ output: join(repository, 'dist/packages') })) {
  console.log(`${relative(process.cwd(), file)}: ${files.length} files, ${(bytes / 1e3).toFixed(0)} kB`);
}
