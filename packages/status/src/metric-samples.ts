/** What a page of metrics says: the text format of Prometheus, as far as this program writes it. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/u;
/** From the beginning of a word: a long one is read once. */
const LABEL = /(?<!\w)([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/gu;

/** The samples of a page, by name. Comments, and lines that are none, are left out. */
export class MetricSamples {
  readonly #byName = new Map<string, Sample[]>();

  constructor(page: string) {
    for (const line of page.split('\n')) {
      const [, name, labels = '', value] = LINE.exec(line) ?? [];
      if (name === undefined) continue;
      const sample = { name, labels: labelsOf(labels), value: numberOf(value ?? '') };
      const same = this.#byName.get(name);
      if (same) same.push(sample);
      else this.#byName.set(name, [sample]);
    }
  }

  /** Whether a name of a metric begins so. */
  hasAny(prefix: string): boolean {
    return [...this.#byName.keys()].some((name) => name.startsWith(prefix));
  }

  of(name: string): readonly Sample[] {
    return this.#byName.get(name) ?? [];
  }

  /** Of all samples of this name and these labels; 0 without any. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.of(name)
      .filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
      .reduce((total, { value }) => total + value, 0);
  }

  /** What a label of this metric has been, in order. */
  valuesOf(name: string, label: string): readonly string[] {
    return [...new Set(this.of(name).map(({ labels }) => labels[label] ?? ''))].toSorted();
  }
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const found = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, unescaped(value)] as const);
  return Object.fromEntries(found);
}

function unescaped(value: string): string {
  return value.replaceAll(/\\(.)/gu, (_, one: string) => (one === 'n' ? '\n' : one));
}

function numberOf(text: string): number {
  if (text === '+Inf') return Infinity;
  return text === '-Inf' ? -Infinity : Number(text);
}
