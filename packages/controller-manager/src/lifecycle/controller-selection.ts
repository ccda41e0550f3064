/** `--controllers=*,-route`: which controllers run. */
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
 * that nothing here has.
 */
export function selectControllers<C extends ControllerName>(
  known: readonly C[],
  selection: readonly string[],
): readonly C[] {
  const names = new Map<string, C>();
  for (const controller of known) {
    for (const name of [controller.name, ...(controller.aliases ?? [])]) names.set(name, controller);
  }
  const decided = new Map<C, boolean>();
  let star = false;
  for (const item of selection) {
    if (item === '*') {
      star = true;
      continue;
    }
    const on = !item.startsWith('-');
    const name = on ? item : item.slice(1);
    const controller = names.get(name);
    if (controller === undefined) throw unknownController(name, known, names);
    if (!decided.has(controller)) decided.set(controller, on);
  }
  return known.filter((controller) => decided.get(controller) ?? (star && !controller.disabledByDefault));
}

function unknownController(
  name: string,
  known: readonly ControllerName[],
  names: ReadonlyMap<string, unknown>,
): FlagError {
  const near = closestName(name, names.keys());
  const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
  const all = known.map((controller) => controller.name).join(', ');
  return new FlagError('invalid-flag', `--controllers: no controller "${name}"${hint}; there are ${all}`);
}
