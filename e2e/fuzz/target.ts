/** What the fuzzer runs. */
export interface Target {
  readonly name: string;
  readonly run: (text: string) => unknown;
  /** How many times a scan of the same text it may take: of what only an operator writes. Default: 3,000. */
  readonly scans?: number;
}
