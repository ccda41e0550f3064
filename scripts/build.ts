/** `make build`. */
import { relative } from 'node:path';
import { buildProgram } from './build-program.ts';

const { bundle, bundleBytes, commands, launcher, outrigger } = await buildProgram();
const here = (path: string): string => relative(process.cwd(), path);
const told = (file: string, bytes: number, by: string): void =>
  console.log(`${here(file)} (${(bytes / 1e6).toFixed(1)} MB), run by ${here(by)}`);
told(bundle, bundleBytes, launcher);
told(commands.bundle, commands.bundleBytes, outrigger);
