#!/usr/bin/env node
/** `npm create @outrigger/provider my-cloud -- --routes`. */
import { createProvider } from './create/create-provider.ts';

process.exitCode = createProvider(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
});
