/**
 * Lends modules of the program to a provider that is a file by itself: `import … from '@outrigger/cloud-provider'` finds the program's own
 * copy where the provider has none. In the bundle there is no file of it, so a module is made that passes on what is in memory.
 */
import { registerHooks } from 'node:module';

/** By the name that is imported. */
const lent = new Map<string, object>();
/** Where a made module finds what it passes on: it shares nothing else with this one. */
const SHELF = Symbol.for('outrigger.dev/lent-modules');
const SCHEME = 'outrigger:';

/**
 * From now on, for every module of the process. A provider that brings a copy of its own keeps it: it was tested with that one, and errors
 * are known by their code.
 */
export function lendModule(name: string, namespace: object): void {
  if (lent.size === 0) hook();
  lent.set(name, namespace);
}

function hook(): void {
  Object.defineProperty(globalThis, SHELF, { value: lent });
  registerHooks({
    resolve: (specifier, context, next) => {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!lent.has(specifier) || !isMissing(specifier, error)) throw error;
        return { url: `${SCHEME}${specifier}`, format: 'module', shortCircuit: true };
      }
    },
    load: (url, context, next) => {
      const name = url.startsWith(SCHEME) ? url.slice(SCHEME.length) : '';
      const namespace = lent.get(name);
      if (!namespace) return next(url, context);
      return { format: 'module', source: passOn(name, Object.keys(namespace)), shortCircuit: true };
    },
  });
}

/** A copy that is there and lacks a file is not missing: then Node names the file. */
function isMissing(specifier: string, error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_MODULE_NOT_FOUND') return message.startsWith(`Cannot find package '${specifier}'`);
  return code === 'MODULE_NOT_FOUND' && message.startsWith(`Cannot find module '${specifier}'`);
}

function passOn(name: string, exports: readonly string[]): string {
  const from = `globalThis[Symbol.for(${JSON.stringify(SHELF.description)})].get(${JSON.stringify(name)})`;
  return `export const { ${exports.join(', ')} } = ${from};`;
}
