/** Programs of the control plane, as the pods of kube-system show them. Pure. */
import type { Pod } from '@outrigger/kube';
import { isMirror } from '../explain/leader-pod.ts';
import { OBJECT_NAME } from '../rbac/object-name.ts';

/** By name, without dashes and with `-` for `_`; one without a value is `true`. */
export type ProgramFlags = ReadonlyMap<string, string>;

export type ProgramName = 'kube-apiserver' | 'kube-controller-manager' | 'cloud-controller-manager' | 'outrigger';

export interface SeenProgram {
  readonly program: ProgramName;
  readonly pod: string;
  /** Of a static Pod: whoever has its node chose the name. */
  readonly isMirror: boolean;
  /** Where it runs; empty: nowhere yet. */
  readonly node: string;
  readonly flags: ProgramFlags;
  /** Part of its flags comes from the environment or a file: what is not in `flags` may be set all the same. */
  readonly isPartial: boolean;
}

type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];

/** Without those that have ended. */
export function seenPrograms(pods: readonly Pod[]): readonly SeenProgram[] {
  return pods.flatMap((one) => {
    const { metadata, spec, status } = one;
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return [];
    return (spec?.containers ?? []).flatMap((container): readonly SeenProgram[] => {
      const words = wordsOf(container);
      const program = programOf(container, words, metadata?.labels ?? {});
      if (program === undefined) return [];
      const { name: pod = '' } = metadata ?? {};
      const flags = flagsOf(words);
      const isPartial =
        words.some((word) => /\$[({\w]/u.test(word)) || (program === 'outrigger' && flags.has('config'));
      return [{ program, pod, isMirror: isMirror(one), node: spec?.nodeName ?? '', flags, isPartial }];
    });
  });
}

/** What is executed, word by word; of `sh -c "…"` the words of the script. */
function wordsOf({ args = [], command = [] }: Container): readonly string[] {
  return [...command, ...args].flatMap((word) => (/\s/u.test(word) ? word.split(/\s+/u) : [word]));
}

function programOf(
  { image = '', name: containerName }: Container,
  words: readonly string[],
  labels: Readonly<Record<string, string>>,
): ProgramName | undefined {
  const names = words.filter((word) => !word.startsWith('-')).map((word) => word.replace(/^.*\//u, ''));
  const imageName = image.replace(/@.*$/u, '').replace(/:[^/:]*$/u, '');
  for (const name of [...names, imageName.replace(/^.*\//u, ''), containerName]) {
    if (name === 'kube-apiserver' || name === 'kube-controller-manager') return name;
    if (!/(?:^|-)cloud-controller(?:-manager)?$/u.test(name)) continue;
    const isOurs = labels['app.kubernetes.io/name'] === OBJECT_NAME || /(?:^|\/)outrigger\//u.test(imageName);
    return isOurs ? 'outrigger' : 'cloud-controller-manager';
  }
  return undefined;
}

/** Of command lines in Go's style: `--flag=value`, `--flag value`, `--flag`. The last one wins. */
export function flagsOf(words: readonly string[]): ProgramFlags {
  const flags = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    const [, name, value] = /^--?([\w-]+)(?:=(.*))?$/su.exec(word) ?? [];
    if (name === undefined || /^-?\d/u.test(word)) continue;
    const next = words[index + 1] ?? '-';
    flags.set(name.replaceAll('_', '-'), value ?? (next.startsWith('-') ? 'true' : next));
  }
  return flags;
}

export function isOn(flags: ProgramFlags, name: string, byDefault = false): boolean {
  const value = flags.get(name);
  return value === undefined ? byDefault : /^(?:1|t|true)$/iu.test(value);
}

export function podsOf(programs: readonly SeenProgram[]): string {
  return programs.map(({ pod }) => pod).join(', ');
}
