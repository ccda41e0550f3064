/** The index of providers: how mature each is, who maintains it, how its last conformance run went, what users say. Pure. */
import type { ProviderCard } from '../provider-card.ts';
import type { ConformanceSummary } from './conformance-summary.ts';

export interface IndexedProvider {
  readonly card: ProviderCard;
  /** Absent: there is no report that can be read here. */
  readonly conformance?: ConformanceSummary;
  /** Where the report can be read. */
  readonly conformanceLink?: string;
  /** Its first page, relative to the index. */
  readonly page: string;
}

/** A page in Markdown, in the order of the titles. */
export function renderIndex(providers: readonly IndexedProvider[]): string {
  const rows = providers.map(({ card, conformance, conformanceLink, page }) => [
    link(card.title, page),
    card.maturity,
    card.maintainers.map(cell).join(', '),
    [...card.features, ...card.additional].map(cell).join(', '),
    conformanceOf(conformance, conformanceLink),
    card.experience.map((address, index) => link(`${index + 1}`, address)).join(', ') || 'none yet',
  ]);
  const table = [
    ['Provider', 'Maturity', 'Maintainers', 'Has', 'Last conformance report', 'Experience'],
    Array(6).fill('---'),
    ...rows,
  ];
  return `# Cloud providers

${table.map((row) => `| ${row.join(' | ')} |`).join('\n')}

Collected by \`outrigger docs collect\` from the repositories of the providers; each has its own pages below its name here.
`;
}

function conformanceOf(summary: ConformanceSummary | undefined, address: string | undefined): string {
  if (summary === undefined) return address === undefined ? 'none yet' : link('report', address);
  const counts = Object.entries(summary.outcomes).map(([outcome, count]) => `${count} ${cell(outcome)}`);
  const text = `${cell(summary.finished.slice(0, 10))}: ${counts.join(', ')}${summary.stopped ? ', stopped' : ''}`;
  return address === undefined ? text : link(text, address);
}

function link(text: string, target: string): string {
  return `[${cell(text)}](<${target.replaceAll(/[<>\s|]/gu, encodeURIComponent)}>)`;
}

/** Of a table: what would end it, or be something else than text, is taken literally. */
function cell(text: string): string {
  return text.replaceAll(/[\\|[\]<>`*]/gu, String.raw`\$&`).replaceAll(/\s+/gu, ' ');
}
