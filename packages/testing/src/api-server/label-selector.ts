/** Label selectors: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ */
import { badRequest } from './status-error.ts';

export type Labels = Readonly<Record<string, string>>;
export type LabelPredicate = (labels: Labels) => boolean;

const TOKEN = /\s*(==|!=|=|!|<|>|\(|\)|,|[^\s=!<>(),]+)/gy;

function tokens(text: string): string[] {
  const found = [...text.matchAll(TOKEN)].map((match) => match[1] ?? '');
  const length = [...text.matchAll(TOKEN)].reduce((sum, match) => sum + match[0].length, 0);
  if (text.slice(length).trim() !== '') throw badRequest(`unable to parse requirement: "${text}"`);
  return found;
}

const isWord = (token: string | undefined): token is string =>
  token !== undefined && !/^(==|!=|[=!<>(),])$/.test(token);

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokens(text);
  }

  parse(): LabelPredicate[] {
    const requirements: LabelPredicate[] = [];
    if (this.#tokens.length === 0) return requirements;
    for (;;) {
      requirements.push(this.#requirement());
      const next = this.#next();
      if (next === undefined) return requirements;
      if (next !== ',') throw this.#unexpected(next, "',' or 'end of string'");
    }
  }

  #next(): string | undefined {
    return this.#tokens[this.#at++];
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  #word(): string {
    const token = this.#next();
    if (!isWord(token)) throw this.#unexpected(token, 'identifier');
    return token;
  }

  #requirement(): LabelPredicate {
    if (this.#peek() === '!') {
      this.#next();
      const key = this.#word();
      return (labels) => !Object.hasOwn(labels, key);
    }
    const key = this.#word();
    const operator = this.#peek();
    if (operator === undefined || operator === ',') return (labels) => Object.hasOwn(labels, key);
    this.#next();
    switch (operator) {
      case '=':
      case '==': {
        const value = this.#value();
        return (labels) => Object.hasOwn(labels, key) && labels[key] === value;
      }
      case '!=': {
        const value = this.#value();
        return (labels) => !Object.hasOwn(labels, key) || labels[key] !== value;
      }
      case 'in': {
        const values = this.#set();
        return (labels) => Object.hasOwn(labels, key) && values.has(labels[key] ?? '');
      }
      case 'notin': {
        const values = this.#set();
        return (labels) => !Object.hasOwn(labels, key) || !values.has(labels[key] ?? '');
      }
      default:
        throw this.#unexpected(operator, 'in, notin, =, ==, !=, gt, lt');
    }
  }

  /** The empty value is written as nothing: `key=`. */
  #value(): string {
    const token = this.#peek();
    if (token === undefined || token === ',') return '';
    return this.#word();
  }

  #set(): ReadonlySet<string> {
    const open = this.#next();
    if (open !== '(') throw this.#unexpected(open, "'('");
    const values = new Set<string>();
    for (;;) {
      const token = this.#peek();
      if (token === ',' || token === ')') values.add('');
      else values.add(this.#word());
      const next = this.#next();
      if (next === ')') return values;
      if (next !== ',') throw this.#unexpected(next, "',' or ')'");
    }
  }

  #unexpected(found: string | undefined, expected: string): Error {
    return badRequest(`unable to parse requirement: found '${found ?? ''}', expected: ${expected}`);
  }
}

/** Throws 400 when the selector cannot be parsed. Undefined when it selects everything. */
export function parseLabelSelector(text: string): LabelPredicate | undefined {
  const requirements = new Parser(text).parse();
  if (requirements.length === 0) return undefined;
  return (labels) => requirements.every((matches) => matches(labels));
}
