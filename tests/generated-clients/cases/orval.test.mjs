// orval with its fetch client.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled, functionName, literal, run, testClient } from '../lib/generated.mjs';

function words({ path, query, headers, body, token }) {
  const all = Object.values(path).map(literal);
  if (body) all.push(literal(body));
  if (query) all.push(literal(query));
  if (filled(headers)) all.push(literal(headers));
  const authorization = token ? literal(`Bearer ${token}`) : '`Bearer ${token}`';
  return [...all, `{ headers: { Authorization: ${authorization} } }`].join(', ');
}

// What orval generates takes every answer for JSON; for bytes it calls a function that people write themselves.
const bytes = `
export const bytes = async <T>(url: string, options: RequestInit): Promise<T> => {
  const response = await fetch(url, options);
  return { data: await response.text(), status: response.status, headers: response.headers } as T;
};
`;

testClient('orval', {
  generate(folder, baseUrl) {
    writeFileSync(join(folder, 'bytes.ts'), bytes);
    const override = { operations: { 'files.content': { mutator: { path: './bytes.ts', name: 'bytes' } } } };
    const output = { target: 'client.ts', client: 'fetch', mode: 'single', headers: true, baseUrl, override };
    const config = { api: { input: { target: 'openapi.json' }, output } };
    writeFileSync(join(folder, 'orval.config.cjs'), `module.exports = ${literal(config)};\n`);
    return run(folder, 'orval', '--config', 'orval.config.cjs');
  },
  head: "import * as client from './client';",
  setup: [],
  answerType: ({ id }, status) => `client.${functionName(id)}Response${status}['data']`,
  call: (call) => `client.${functionName(call.id)}(${words(call)})`,
});
