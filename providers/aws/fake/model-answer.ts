/** An answer as far as the model goes, which is cut to what the provider reads: the fake knows more. */

interface Ref {
  readonly shape: string;
}

interface Shape {
  readonly type: string;
  readonly members?: Readonly<Record<string, Ref>>;
  readonly member?: Ref;
}

export interface ServiceModel {
  readonly operations: Readonly<Record<string, { readonly output?: Ref } | undefined>>;
  readonly shapes: Readonly<Record<string, Shape | undefined>>;
}

export function answerOf({ operations, shapes }: ServiceModel, operation: string, answer: object): object {
  const output = operations[operation]?.output;
  return output ? (cut(answer, output) as object) : {};

  function cut(value: unknown, { shape: name }: Ref): unknown {
    const shape = shapes[name];
    if (shape?.type === 'list' && shape.member && Array.isArray(value)) {
      const { member } = shape;
      return value.map((item) => cut(item, member));
    }
    if (shape?.type !== 'structure' || !shape.members || typeof value !== 'object' || value === null) return value;
    const { members } = shape;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
        const ref = Object.hasOwn(members, key) ? members[key] : undefined;
        return ref && inner !== undefined ? [[key, cut(inner, ref)]] : [];
      }),
    );
  }
}
