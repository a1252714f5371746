// The server's own OpenAPI document, read by ajv in strict 2020-12 mode: what an exchange must look like.
import addFormats from 'ajv-formats';
import Ajv2020 from 'ajv/dist/2020.js';

const methods = ['get', 'post', 'put', 'patch', 'delete'];
const extensions = ['x-assumed', 'x-assumed-required', 'x-max-bytes'];
// Met before any operation is: by framing and routing (decisions.md, "General").
const anywhere = new Set([400, 404, 405, 413, 431]);

/** Every object with named members takes no other: an answer holds nothing that the document does not name. */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const copy = {};
  for (const [key, value] of Object.entries(schema)) {
    copy[key] = key === 'properties' ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, closed(v)]))
      : key === 'default' || key === 'enum' || key === 'const' ? value : closed(value);
  }
  if (copy.properties && copy.type === 'object' && copy.additionalProperties === undefined) {
    copy.additionalProperties = false;
  }
  return copy;
}

export class Contract {
  constructor(document, { strict = false } = {}) {
    // `--strict` refuses unknown parameters, which also operations without any may be sent.
    this.anywhere = new Set(strict ? [...anywhere, 422] : anywhere);
    this.document = document;
    this.ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true, coerceTypes: false });
    addFormats(this.ajv);
    for (const word of extensions) this.ajv.addKeyword(word);
    const definitions = JSON.parse(JSON.stringify(document.components.schemas).replaceAll('#/components/schemas/', '#/$defs/'));
    const shut = closed(definitions);
    this.ajv.addSchema({ $id: 'ws:open', $defs: definitions });
    this.ajv.addSchema({ $id: 'ws:shut', $defs: shut });
    this.compiled = new Map();
    // How errors look that no operation documents: those of framing and routing.
    this.refusal = document.paths['/v1/me'].get.responses[401].content;
    this.operations = [];
    for (const [path, item] of Object.entries(document.paths)) {
      for (const method of methods) {
        if (!item[method]) continue;
        const pattern = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '([^/]+?)');
        this.operations.push({ method: method.toUpperCase(), path, operation: item[method], pattern: new RegExp(`^${pattern}$`) });
      }
    }
  }

  /** The operation that a request means: of the paths that fit the closest one decides, also which methods there are. */
  find(method, target) {
    const path = target.split('?')[0].replace(/%3a/gi, ':');
    const verb = method === 'HEAD' ? 'GET' : method;
    const fitting = this.operations.filter((entry) => entry.pattern.test(path));
    fitting.sort((a, b) => a.path.split('{').length - b.path.split('{').length || b.path.length - a.path.length);
    return fitting.find((entry) => entry.path === fitting[0].path && entry.method === verb);
  }

  /** The problems of `value` under a schema of the document. `shut`: unknown members are one. */
  check(schema, value, which = 'shut') {
    const key = which + JSON.stringify(schema);
    if (!this.compiled.has(key)) {
      const absolute = JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', `ws:${which}#/$defs/`));
      this.compiled.set(key, this.ajv.compile(absolute));
    }
    const validate = this.compiled.get(key);
    if (validate(value)) return [];
    return validate.errors.map((error) => `${error.instancePath || '/'} ${error.message} ${JSON.stringify(error.params)}`);
  }

  requestSchema(entry) {
    return entry.operation.requestBody?.content['application/json'].schema;
  }

  /** What is wrong with an answer; `which` as in `check`. */
  problems(request, answer, { which = 'shut' } = {}) {
    const entry = this.find(answer.method, answer.path);
    const problems = [];
    const say = (text) => problems.push(`${answer.method} ${answer.path} -> ${answer.status}: ${text}`);
    const { headers } = answer;
    if (!/^[\x21-\x7e]{1,128}$/.test(headers['x-request-id'] ?? '')) say('no fit X-Request-Id');
    if (headers['x-mock-operation'] !== (entry?.operation.operationId ?? 'none')) {
      const routed = entry !== undefined && ![400, 413, 431].includes(answer.status);
      if (routed) say(`X-Mock-Operation is ${headers['x-mock-operation']}`);
    }
    if (answer.status === 405 && !headers.allow) say('405 without Allow');
    if (answer.status === 401 && headers['www-authenticate'] !== 'Bearer realm="workspace"') say('401 without WWW-Authenticate');
    if ((answer.status === 429 || answer.status === 503) && !headers['retry-after']) say('no Retry-After');
    if (answer.status === 204 || answer.status === 304) {
      if (answer.body.length > 0) say('a body where none may be');
      return problems;
    }
    const documented = entry?.operation.responses[String(answer.status)];
    if (!documented && !this.anywhere.has(answer.status)) {
      say('the status is not documented');
      return problems;
    }
    const invalid = { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } };
    const content = documented?.content ?? (answer.status === 422 ? invalid : this.refusal);
    const type = (headers['content-type'] ?? '').split(';')[0];
    if (answer.method === 'HEAD') return problems;
    if (!(type in content)) {
      const bytes = 'application/octet-stream' in content && answer.status < 300;
      if (!bytes) say(`the content type ${type || '(none)'} is not documented`);
      return problems;
    }
    const value = type.endsWith('json') ? answer.json : answer.text;
    for (const problem of this.check(content[type].schema, value, which)) say(problem);
    const code = answer.json?.code ?? answer.json?.detail?.code ?? answer.json?.detail;
    const codes = documented?.['x-codes'];
    if (codes && type.endsWith('json') && !codes.includes(code)) say(`code ${code} is not among ${codes}`);
    const schema = entry && this.requestSchema(entry);
    if (answer.status < 300 && schema && request.body !== undefined && typeof request.body === 'object' && !Buffer.isBuffer(request.body)) {
      for (const problem of this.check(schema, request.body, 'open')) say(`succeeded, though the request ${problem}`);
    }
    return problems;
  }
}
