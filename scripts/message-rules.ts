/** What a person reads of the program (Events, errors, log lines, help) is plain English in the terms of Kubernetes. Pure. */

interface Rule {
  readonly pattern: RegExp;
  /** What to write in its place. */
  readonly instead: string;
}

/** Words that are ours to avoid: coined, poetic, vague, or in another spelling than Kubernetes'. */
export const WORDS: readonly Rule[] = [
  { pattern: /\bprov(?:es|ing) nothing|, which is no proof\b/u, instead: 'is inconclusive' },
  { pattern: /brought to what|\bas (?:it|they) should be\b/u, instead: 'reconciled; up to date' },
  { pattern: /\bleft to chance|\bby chance\b/u, instead: 'jitter; accidentally' },
  { pattern: /\banew\b/u, instead: 'again' },
  { pattern: /\bof late\b/u, instead: 'recently' },
  { pattern: /\bsought\b/u, instead: 'searched for' },
  { pattern: /\b(?:no|any|some)body\b/u, instead: 'name who: no other program, a user' },
  { pattern: /\blook(?:s|ed)? after\b/u, instead: 'manages' },
  { pattern: /\bmend(?:s|ed)?\b/u, instead: 'correct; repair' },
  { pattern: /\bfor good\b/u, instead: 'permanently' },
  { pattern: /\bat work on\b/u, instead: 'is carrying out' },
  { pattern: /\banything to do with|none of (?:the|its) business/u, instead: 'is not handled: it belongs to …' },
  { pattern: /\bthings?\b/u, instead: 'name it: resource, object' },
  { pattern: /\bgave (?:no|an?)\b/u, instead: 'returned' },
  { pattern: /\b(?:become|becomes|comes) of\b/u, instead: 'happens to; the result of' },
  { pattern: /\bfound out\b/u, instead: 'determined' },
  {
    pattern: /\bheed|\bhearsay\b|\bwish(?:es)?\b|\blet go\b|\btold\b|\bgo(?:es)? round\b/u,
    instead: 'the term of Kubernetes',
  },
  { pattern: /\b[Pp]lease\b|\b[Ss]orry\b|\b[Oo]ops\b|\bobviously\b|\bsimply\b/u, instead: 'nothing' },
  { pattern: /\be\.g\.|\bi\.e\.|\betc\./u, instead: 'for example; that is' },
  {
    pattern: /initialis|recognis|authoris|\bbehaviour|\bcolour|\bhonour/u,
    instead: 'the American spelling, as in Kubernetes',
  },
];

/** What to do is said in the imperative: `correct the URL`, not `the URL should be corrected`. */
export const REMEDIES: readonly Rule[] = [
  {
    pattern: /\byou (?:should|must|might|may want to|need to|have to)\b/u,
    instead: 'the imperative, without "you"',
  },
  {
    pattern:
      /\b(?:should|needs? to|has to|have to|ought to|must) be (?:set|changed|corrected|removed|deleted|restarted|failed over|granted|renamed|checked|fixed)\b/u,
    instead: 'the imperative: set, correct, remove …',
  },
  { pattern: /\b(?:advisable|recommended to|consider \w+ing)\b/u, instead: 'the imperative' },
];

/** In characters. An Event keeps 1,024 bytes, and a terminal shows about three lines of this. */
export const LONGEST = 300;

/** Whether a string is one for people: three words at least, and not a query, a path, a page or a pattern. */
export function isMessage(text: string): boolean {
  return (
    /[a-z]{2,}[,;:]? [\w…-]+ [\w…-]+/u.test(text) &&
    !/\n|\{\{|=~|^\s*(?:apiVersion|[<|#({[])/u.test(text) &&
    !/^[\w.]+\(|\$\{/u.test(text)
  );
}

/** Why a message is to be changed, and into what. */
export function problemsOf(text: string): readonly string[] {
  const problems = [...WORDS, ...REMEDIES].flatMap(({ instead, pattern }) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [`"${found}": write ${instead}`];
  });
  if (text.length > LONGEST) problems.push(`${text.length} characters: at most ${LONGEST}`);
  return problems;
}
