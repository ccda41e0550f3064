/** `--unmanaged-nodes`: which nodes no controller looks after. */
import type { FlagType } from '@outrigger/controller-manager';
import { parseUnmanagedRule, type UnmanagedRule } from '@outrigger/controllers';

/** Separated by commas; repeatable. */
export const unmanagedNodes: FlagType<readonly UnmanagedRule[]> = {
  word: 'strings',
  parse: (text, previous) => {
    const rules = text.split(',').map((rule) => rule.trim());
    return [...(previous ?? []), ...rules.filter((rule) => rule !== '').map(parseUnmanagedRule)];
  },
  format: (rules) => (rules.length === 0 ? '' : `[${rules.map(({ text }) => text).join(',')}]`),
};
