/** Defects of the product as they were before they were mended, with which the fuzzer has to show that it would find them by itself. */
import { RE2JS } from 're2js';
import type { Target } from './target.ts';

/** Each began anew wherever a token may begin, and read on from there to the end of the text. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu, '[redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/gu, '[redacted]'],
  [/\b(Bearer|Basic|Negotiate)\s+[\w.~+/=-]{6,}/giu, '$1 [redacted]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"]*:)[^\s/@"]+@/giu, '$1[redacted]@'],
  [/((?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',;&}\]]{4,}/giu, '$1[redacted]'],
];
const HINT = /eyJ|PRIVATE KEY|bearer|basic|negotiate|:\/\/|passw|secret|token|key/iu;

function redact(text: string): string {
  if (!HINT.test(text)) return text;
  return SHAPES.reduce((clean, [shape, replacement]) => clean.replace(shape, replacement), text);
}

/** Matching was linear, and compiling a pattern as long as an annotation was not. */
function matchSubnet(pattern: string): boolean {
  const positive = pattern.startsWith('!') ? pattern.slice(1) : pattern;
  const expression = RE2JS.compile(positive.startsWith('~') ? positive.slice(1) : globExpression(positive));
  return expression.matcher('public-1').find();
}

function globExpression(glob: string): string {
  let inGroup = false;
  const translated = glob.replace(/\{\{|[\\^$.+()=!|*?{},]/g, (token) => {
    if (token === '*') return '[^/]*';
    if (token === '?') return '.';
    if (token === '{') {
      inGroup = true;
      return '(?:';
    }
    if (token === '}' && inGroup) {
      inGroup = false;
      return ')';
    }
    if (token === ',') return inGroup ? '|' : ',';
    return token === '{{' ? '\\{' : `\\${token}`;
  });
  return `^${translated}$`;
}

export interface OldDefect extends Target {
  /** Smaller than those of `make fuzz`, by which it is found in seconds. */
  readonly sizes: readonly number[];
  /** Of the heap, for the largest of these sizes. */
  readonly memoryMb: number;
}

export const oldDefects: readonly OldDefect[] = [
  { name: 'old defect: the redactor', run: redact, sizes: [512, 1_024, 2_048, 4_096, 8_192, 16_384], memoryMb: 64 },
  // It took about 1 KB for each character. A text without a star passes with 48 MB.
  { name: 'old defect: patterns of subnets', run: matchSubnet, sizes: [65_536], memoryMb: 64 },
];
