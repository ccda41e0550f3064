/** `make build`. */
import { relative } from 'node:path';
import { buildProgram } from './build-program.ts';

const { bundle, bundleBytes, launcher, outrigger } = await buildProgram();
const here = (path: string): string => relative(process.cwd(), path);
console.log(`${here(bundle)} (${(bundleBytes / 1e6).toFixed(1)} MB), run by ${here(launcher)} and ${here(outrigger)}`);
