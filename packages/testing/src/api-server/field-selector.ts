/** Field selectors: `metadata.name=a,spec.type!=b`. Which fields there are is a matter of the kind. */
import { badRequest } from './status-error.ts';

export type Fields = Readonly<Record<string, string>>;

/** Throws 400 for a selector that cannot be parsed, or a field that `supported` does not list. Undefined when it selects everything. */
export function parseFieldSelector(
  text: string,
  supported: readonly string[],
): ((fields: Fields) => boolean) | undefined {
  if (text.trim() === '') return undefined;
  const requirements = text.split(',').map((term) => {
    const match = /^([^=!]+)(==|!=|=)(.*)$/.exec(term);
    if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = match;
    if (!supported.includes(field)) throw badRequest(`field label not supported: ${field}`);
    return { field, value, equal: operator !== '!=' };
  });
  return (fields) => requirements.every(({ field, value, equal }) => ((fields[field] ?? '') === value) === equal);
}
