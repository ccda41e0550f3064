/** What `npm audit signatures --json` says. Pure. */

export type Signatures =
  | {
      readonly kind: 'known';
      /** `name@version` of what is not what its registry has signed. */
      readonly invalid: readonly string[];
      /** `name@version` of what its registry has not signed, though it signs. */
      readonly missing: readonly string[];
    }
  /** Nobody has said: the registry does not sign, or the keys could not be had. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Whatever is not a report of npm is `unknown`. */
export function readSignatures(stdout: string): Signatures {
  let report: unknown;
  try {
    report = JSON.parse(stdout);
  } catch {
    return { kind: 'unknown', reason: 'npm audit signatures printed no JSON' };
  }
  const { error, invalid, missing } = (report ?? {}) as Readonly<Record<string, unknown>>;
  if (areNamed(invalid) && areNamed(missing)) {
    return { kind: 'known', invalid: invalid.map(nameOf), missing: missing.map(nameOf) };
  }
  const { summary } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const reason = typeof summary === 'string' ? summary.replaceAll(/https?:\S+/gu, '…').split('\n', 1)[0] : undefined;
  return { kind: 'unknown', reason: reason ?? 'npm audit signatures printed another kind of report' };
}

interface Named {
  readonly name: string;
  readonly version: string;
}

function areNamed(list: unknown): list is readonly Named[] {
  return Array.isArray(list) && list.every((one) => typeof (one as Named | null)?.name === 'string');
}

function nameOf({ name, version }: Named): string {
  return `${name}@${version}`;
}
