/** `--controllers=*,-route`: which controllers run, by which names. `--webhooks` is read by the same rules. */
import { closestName } from '../flags/closest-name.ts';
import { FlagError } from '../flags/flag-error.ts';

/** A controller, as the flag knows it. */
export interface ControllerName {
  /** The name in logs and metrics: `cloud-node-controller`. */
  readonly name: string;
  /** Other names that the flag takes: `cloud-node`. */
  readonly aliases?: readonly string[];
  /** Does not run for `*`, only when it is named. */
  readonly disabledByDefault?: boolean;
}

/**
 * The controllers that `selection` turns on, in the order of `known`. `name` turns on, `-name` off, `*` turns on all that
 * are on by default; for one controller the first item that names it wins, as upstream. Throws a `FlagError` for a name
 * that nothing here has. `of`: for the message, which flag says so and what it names.
 */
export function selectControllers<C extends ControllerName>(
  known: readonly C[],
  selection: readonly string[],
  of: { readonly flag: string; readonly noun: string } = { flag: '--controllers', noun: 'controller' },
): readonly C[] {
  const names = new ControllerNames(known);
  const decided = new Map<C, boolean>();
  let star = false;
  for (const item of selection) {
    if (item === '*') {
      star = true;
      continue;
    }
    const on = !item.startsWith('-');
    const controller = names.get(on ? item : item.slice(1), of.flag, of.noun);
    if (!decided.has(controller)) decided.set(controller, on);
  }
  return known.filter((controller) => decided.get(controller) ?? (star && !controller.disabledByDefault));
}

/** Controllers by their names and aliases. */
export class ControllerNames<C extends ControllerName> {
  readonly #known: readonly C[];
  readonly #names = new Map<string, C>();

  constructor(known: readonly C[]) {
    this.#known = known;
    for (const controller of known) {
      for (const name of [controller.name, ...(controller.aliases ?? [])]) this.#names.set(name, controller);
    }
  }

  /** Throws a `FlagError` for a name that none has. `where`: what says the name, for the message; `noun`: what it would name. */
  get(name: string, where: string, noun = 'controller'): C {
    const controller = this.#names.get(name);
    if (controller !== undefined) return controller;
    const near = closestName(name, this.#names.keys());
    const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
    const all = this.#known.map((known) => known.name).join(', ');
    throw new FlagError('invalid-flag', `${where}: no ${noun} "${name}"${hint}; there are ${all}`);
  }
}
