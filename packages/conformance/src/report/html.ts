/** What the pages share: one style, no script, nothing fetched from elsewhere. */
import { printable } from './printable-text.ts';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[];

/** Every value is escaped, save those that are `Html` themselves. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(
    strings.map((string, index) => string + (index < values.length ? partText(values[index]) : '')).join(''),
  );
}

function partText(part: Part | undefined): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('\n');
  return escapeHtml(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return printable(text).replaceAll(/[&<>"']/gu, (character) => ENTITIES[character] ?? '');
}

/** An address as a link; a page of the repository as text. */
export function sourceLink(source: string): Html {
  return source.startsWith('https://') ? html`<a href="${source}">${source}</a>` : html`<code>${source}</code>`;
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --failed: #c62828; --passed: #2e7d32; --unverifiable: #b26a00; --skipped: #777; }
@media (prefers-color-scheme: dark) { :root { --failed: #ff8a80; --passed: #81c784; --unverifiable: #ffb74d; --skipped: #9a9a9a; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
p.about { margin: 0 0 1rem; opacity: .8; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
thead th { border-bottom-width: 2px; white-space: nowrap; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.outcome, span.outcome { font-weight: 600; white-space: nowrap; }
.failed { color: var(--failed); } .passed { color: var(--passed); } .unverifiable { color: var(--unverifiable); } .skipped { color: var(--skipped); }
pre { background: var(--soft); padding: .6rem; overflow-x: auto; white-space: pre-wrap; margin: .4rem 0; font-size: .85rem; }
.source { font-size: .85rem; opacity: .85; overflow-wrap: anywhere; } .reason { margin-top: .2rem; }
.wide { overflow-x: auto; }
`.trim();

/** A whole document. */
export function page(title: string, body: Html): string {
  return `${
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title}</title>
          <style>
            ${new Html(STYLE)}
          </style>
        </head>
        <body>
          ${body}
        </body>
      </html>`.text
  }\n`;
}
