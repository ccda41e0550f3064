/** What a query of PromQL asks for: which series, by which labels. Parsed with the grammar of Prometheus' own editor. */
import { parser } from '@prometheus-io/lezer-promql';

export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  /** Labels that its series must have for the query to mean something: those of matchers, and those it is grouped by. */
  readonly labels: readonly string[];
}

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** All selectors of the query. Throws a `SyntaxError` that quotes the place. */
export function selectorsOf(query: string): readonly Selector[] {
  const selectors: Selector[] = [];
  parser.parse(query).iterate({
    enter: ({ node }) => {
      if (node.type.isError) {
        throw new SyntaxError(`not PromQL at "${query.slice(Math.max(0, node.from - 10), node.to + 20)}" in ${query}`);
      }
      if (node.name === 'VectorSelector') selectors.push(selectorOf(query, node));
    },
  });
  if (selectors.length === 0) throw new SyntaxError(`no series in ${query}`);
  return selectors;
}

function selectorOf(query: string, node: SyntaxNode): Selector {
  const name = node.getChild('Identifier');
  if (!name) throw new SyntaxError(`a selector without a name in ${query}`);
  const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => {
    const [label = '', operator = '', value = ''] = ['LabelName', 'MatchOp', 'StringLiteral'].map((kind) =>
      textOf(query, matcher.getChild(kind)),
    );
    return { label, operator: operator as Matcher['operator'], value: JSON.parse(value) as string };
  });
  const grouping: string[] = [];
  const made = new Set<string>();
  for (let above = node.parent; above; above = above.parent) {
    if (above.name === 'FunctionCall' && textOf(query, above.getChild('FunctionIdentifier')) === 'label_replace') {
      const target = above.getChild('FunctionCallBody')?.getChild('StringLiteral') ?? null;
      made.add(JSON.parse(textOf(query, target)) as string);
    }
    const by = above.name === 'AggregateExpr' ? above.getChild('AggregateModifier')?.getChild('GroupingLabels') : null;
    for (const label of by?.getChildren('LabelName') ?? []) grouping.push(textOf(query, label));
  }
  const labels = new Set([...matchers.map(({ label }) => label), ...grouping.filter((label) => !made.has(label))]);
  return { metric: textOf(query, name), matchers, labels: [...labels] };
}

function textOf(query: string, node: SyntaxNode | null): string {
  return node ? query.slice(node.from, node.to) : '';
}
