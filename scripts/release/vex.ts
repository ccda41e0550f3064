/** What of the known vulnerabilities does no harm, as OpenVEX 0.2.0: from the list of accepted advisories. Pure. */
import type { Acceptance } from '../advisories/judge-audit.ts';

export interface Vex {
  readonly version: string;
  /** Of the commit, in seconds since 1970. */
  readonly epoch: number;
  /** As package URLs. */
  readonly products: readonly string[];
  readonly acceptances: readonly Acceptance[];
}

/** JSON text. `undefined` where no advisory is accepted: a document must state something. */
export function vexOf({ acceptances, epoch, products, version }: Vex): string | undefined {
  const timestamp = new Date(epoch * 1000).toISOString();
  const statements = acceptances.flatMap(({ id, justification, reason, until }) => {
    // The entry that says that nobody knows states nothing of a vulnerability.
    if (justification === undefined) return [];
    const over = timestamp.slice(0, 10) > until;
    return [
      {
        vulnerability: { name: id },
        products: products.map((product) => ({ '@id': product })),
        ...(over
          ? { status: 'under_investigation', status_notes: `accepted until ${until}, and to be looked at again` }
          : { status: 'not_affected', justification, impact_statement: reason }),
      },
    ];
  });
  if (statements.length === 0) return undefined;
  const document = {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `https://outrigger.dev/vex/${version}`,
    author: 'Outrigger',
    timestamp,
    version: 1,
    statements,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
