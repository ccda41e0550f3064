/** Names, label keys and label values. https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const SERVICE = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const LABEL_RE = whole(LABEL);
const SUBDOMAIN_RE = whole(SUBDOMAIN);
const SERVICE_RE = whole(SERVICE);
const QUALIFIED_RE = whole(QUALIFIED);

interface NameRule {
  readonly pattern: RegExp;
  readonly source: string;
  readonly max: number;
  readonly text: string;
}

const NAME_RULES: Readonly<Record<'subdomain' | 'label' | 'service', NameRule>> = {
  subdomain: {
    pattern: SUBDOMAIN_RE,
    source: SUBDOMAIN,
    max: 253,
    text: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  },
  label: {
    pattern: LABEL_RE,
    source: LABEL,
    max: 63,
    text: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  },
  service: {
    pattern: SERVICE_RE,
    source: SERVICE,
    max: 63,
    text: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  },
};

/** What is wrong with an object's name, or undefined. */
export function nameProblem(name: string, rule: keyof typeof NAME_RULES): string | undefined {
  const { pattern, source, max, text } = NAME_RULES[rule];
  if (!pattern.test(name)) return `${text} (regex used for validation is '${source}')`;
  return name.length > max ? `must be no more than ${max} bytes` : undefined;
}

/** What is wrong with a label key, taint key or finalizer: `[prefix/]name`. */
export function labelKeyProblem(key: string): string | undefined {
  const slash = key.lastIndexOf('/');
  const name = key.slice(slash + 1);
  if (slash >= 0 && !SUBDOMAIN_RE.test(key.slice(0, slash)))
    return 'prefix part must be a lowercase RFC 1123 subdomain';
  if (name.length > 63) return 'name part must be no more than 63 bytes';
  if (!QUALIFIED_RE.test(name)) {
    return `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (regex used for validation is '${QUALIFIED}')`;
  }
  return undefined;
}

export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return 'must be no more than 63 bytes';
  if (value !== '' && !QUALIFIED_RE.test(value)) {
    return `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (regex used for validation is '(${QUALIFIED})?')`;
  }
  return undefined;
}
