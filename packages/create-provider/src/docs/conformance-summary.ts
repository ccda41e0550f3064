/** What the index says of a provider's last conformance report. Pure. */

export interface ConformanceSummary {
  /** RFC 3339. */
  readonly finished: string;
  /** How many results had each outcome: `passed`, `failed`, `skipped`, `unverifiable`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The run ended before its tests did. */
  readonly stopped?: true;
}

/** `undefined` for a text that is no report of `outrigger conformance`. */
export function summariseReport(text: string): ConformanceSummary | undefined {
  let report: { readonly finished?: unknown; readonly results?: unknown; readonly stopped?: unknown };
  try {
    report = JSON.parse(text) as typeof report;
  } catch {
    return undefined;
  }
  if (typeof report?.finished !== 'string' || !Array.isArray(report.results)) return undefined;
  const outcomes: Record<string, number> = {};
  for (const { outcome } of report.results as readonly { readonly outcome?: unknown }[]) {
    outcomes[String(outcome)] = (outcomes[String(outcome)] ?? 0) + 1;
  }
  return { finished: report.finished, outcomes, ...(report.stopped !== undefined && { stopped: true }) };
}
