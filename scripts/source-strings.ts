/** The strings of sources, where they stand, with the text between tags of JSX. Parsed by oxc: comments, types and imports are none. */
import { readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';

export interface SourceString {
  readonly file: string;
  readonly line: number;
  /** A template has `…` for what is put in. */
  readonly text: string;
}

export function stringsOf(file: string, source: string = readFileSync(file, 'utf8')): readonly SourceString[] {
  const strings: SourceString[] = [];
  const imports = new Set<number>();
  const add = (start: number, text: string): void => {
    strings.push({ file, line: source.slice(0, start).split('\n').length, text });
  };
  const skip = (node: { readonly source: { readonly start: number } | null }): void => {
    if (node.source) imports.add(node.source.start);
  };
  new Visitor({
    ImportDeclaration: skip,
    ExportAllDeclaration: skip,
    ExportNamedDeclaration: skip,
    Literal: ({ start, value }) => {
      if (typeof value === 'string' && !imports.has(start)) add(start, value);
    },
    JSXText: ({ start, value }) => {
      const text = value.trim().replaceAll(/\s+/gu, ' ');
      if (text !== '') add(start, text);
    },
    TemplateLiteral: ({ quasis, start }) => {
      add(start, quasis.map(({ value }) => value.cooked ?? '').join('…'));
    },
  }).visit(parseSync(file, source).program);
  return strings;
}

/** The messages of calls such as `logger.warn('…')` and `logger.verbose(2, '…')`. */
export function logMessagesOf(file: string, source: string = readFileSync(file, 'utf8')): readonly string[] {
  const messages: string[] = [];
  new Visitor({
    CallExpression: ({ arguments: given, callee }) => {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      const method = callee.property.name;
      const object = source.slice(callee.object.start, callee.object.end);
      if (!/logger$/iu.test(object) || !/^(?:info|warn|error|verbose)$/u.test(method)) return;
      const message = given[method === 'verbose' ? 1 : 0];
      const ways = message?.type === 'ConditionalExpression' ? [message.consequent, message.alternate] : [message];
      for (const way of ways) {
        if (way?.type === 'Literal' && typeof way.value === 'string') messages.push(way.value);
        if (way?.type === 'TemplateLiteral') messages.push(way.quasis.map(({ value }) => value.cooked ?? '').join('…'));
      }
    },
  }).visit(parseSync(file, source).program);
  return messages;
}
