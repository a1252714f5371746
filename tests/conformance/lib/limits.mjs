// From the limit of a field to values just inside and just outside, with what a 422 must say of the latter.

const letter = 'ä';
const emoji = '🌊'; // one code point, two UTF-16 units, four bytes
const textOf = (count) => emoji.repeat(Math.min(count, 3)) + letter.repeat(Math.max(0, count - 3));
const missing = Symbol('missing');
export { missing };

const refused = (value, type, ctx) => ({ value, type, ctx });

function ofText({ min, max, maxBytes }) {
  const good = [];
  const bad = [];
  if (min !== undefined) {
    good.push(textOf(min));
    if (min > 0) bad.push(refused(textOf(min - 1), 'string_too_short', { min_length: min }));
  }
  if (max !== undefined) {
    good.push(textOf(max));
    bad.push(refused(textOf(max + 1), 'string_too_long', { max_length: max }));
  }
  if (maxBytes !== undefined) {
    good.push('x'.repeat(maxBytes), '');
    bad.push(refused('x'.repeat(maxBytes + 1), 'string_too_long', { max_length: maxBytes }));
    bad.push(refused(emoji.repeat(maxBytes / 4) + 'x', 'string_too_long', { max_length: maxBytes }));
  }
  for (const value of [7, true, ['a'], { a: 1 }]) bad.push(refused(value, 'string_type'));
  return { good, bad };
}

function ofInteger({ min, max }) {
  const good = [];
  const bad = [];
  if (min !== undefined) {
    good.push(min);
    bad.push(refused(min - 1, 'greater_than_equal', { ge: min }));
  }
  if (max !== undefined) {
    good.push(max);
    bad.push(refused(max + 1, 'less_than_equal', { le: max }));
  }
  for (const value of ['5', true, 1.5, [], {}]) bad.push(refused(value, 'int_type'));
  return { good, bad };
}

function ofList({ of, min, max }) {
  const inner = valuesOf(of);
  const item = inner.good[0] ?? 'item';
  const good = [];
  const bad = [];
  const fill = (count) => Array.from({ length: count }, (_, i) => inner.good[i % inner.good.length]);
  if (min !== undefined && min > 0) {
    good.push(fill(min));
    bad.push(refused(fill(min - 1), 'too_short', { field_type: 'List', min_length: min, actual_length: min - 1 }));
  }
  if (max !== undefined && of.kind !== 'object') {
    good.push(fill(max));
    bad.push(refused(fill(max + 1), 'too_long', { field_type: 'List', max_length: max, actual_length: max + 1 }));
  }
  for (const value of [item, 7, { a: item }]) {
    if (typeof value !== 'object' || !Array.isArray(value)) bad.push(refused(value, 'list_type'));
  }
  if (of.kind !== 'object') {
    for (const wrong of inner.bad.slice(0, 2)) bad.push({ ...refused([wrong.value], wrong.type), under: [0], input: wrong.value });
  }
  return { good, bad };
}

/** Values that a body may hold there, and those that it may not. */
export function valuesOf(type) {
  const { good, bad } = {
    text: ofText,
    int: ofInteger,
    list: ofList,
    bool: () => ({ good: [true, false], bad: ['true', 1, 'yes', []].map((value) => refused(value, 'bool_type')) }),
    uuid: () => ({
      good: ['0198f3a0-0000-7000-8000-000000000001', '0198F3A0-0000-7000-8000-000000000001'],
      bad: ['', 'no-uuid', '0198f3a0-0000-7000-8000-00000000000', 7].map((value) => refused(value, 'uuid_parsing')),
    }),
    choice: ({ values }) => ({
      good: values,
      bad: ['', 'nonsense', values[0].toUpperCase(), 7].map((value) => refused(value, 'literal_error')),
    }),
    object: () => ({ good: [{}, { a: { b: [1] } }], bad: ['a', [], 7].map((value) => refused(value, 'dict_type')) }),
  }[type.kind](type);
  if (type.nullable) good.push(null);
  else bad.push({ value: null });
  if (type.required) bad.push(refused(missing, 'missing'));
  return { good, bad };
}

/** The same for a query, where everything is text: lax about integers and yes or no. */
export function queryValuesOf(type) {
  if (type.kind === 'int') {
    const values = ofInteger(type);
    const bad = values.bad.filter(({ type: of }) => of !== 'int_type');
    for (const value of ['x', '', '1.5', '1e1', 'true', '0x10', '--5']) bad.push(refused(value, 'int_parsing'));
    return { good: [...values.good, '05', '+7', '1_0', '7.0'], bad: bad.map((each) => ({ ...each, input: String(each.value) })) };
  }
  if (type.kind === 'bool') {
    return {
      good: ['true', '1', 'yes', 'on', 'false', '0', 'no', 'off', 'TRUE', 't', 'y', 'f', 'n'],
      bad: ['', 'maybe', '2', 'yess'].map((value) => refused(value, 'bool_parsing')),
    };
  }
  const values = valuesOf(type);
  return { good: values.good.filter((value) => typeof value === 'string'), bad: values.bad.filter(({ value }) => typeof value === 'string') };
}
