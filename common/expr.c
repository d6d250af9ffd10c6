/* expr - checked integer expressions of launch plans and contract shapes
 *
 * A recursive-descent parser over a precedence table builds a tree in one array; children stand before
 * their parent, the root is last. && || ?: evaluate only what they need, as in C, so a guard such as
 * `cols == 0 ? 1 : n / cols` works.
 *
 * SPDX-License-Identifier: MIT */
#include "common/expr.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

typedef enum op {
    OP_CONST,
    OP_VAR,
    OP_NEG,
    OP_NOT,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_AND,
    OP_OR,
    OP_IF,
    OP_CEIL_DIV,
    OP_MIN,
    OP_MAX,
    OP_NEXT_POW2
} op;

typedef struct node {
    op op;
    int column;                   /* of the operator, from 1 */
    int a, b, c;                  /* children, -1 where there is none */
    int64_t value;                /* OP_CONST */
    char name[EXPR_NAME_MAX + 1]; /* OP_VAR */
} node;

struct expr {
    node *nodes;
    int count, cap;
    int root;
};

typedef struct parser {
    const char *text;
    const char *at;
    const char *const *names;
    expr *tree;
    int depth;
    err *e;
} parser;

typedef struct binary {
    const char *text;
    op op;
    int level; /* binds tighter when higher */
} binary;

/* Longer spellings first: "<=" before "<". */
static const binary binaries[] = {
    {"||", OP_OR, 1}, {"&&", OP_AND, 2}, {"==", OP_EQ, 3}, {"!=", OP_NE, 3}, {"<=", OP_LE, 4},
    {">=", OP_GE, 4}, {"<", OP_LT, 4},   {">", OP_GT, 4},  {"+", OP_ADD, 5}, {"-", OP_SUB, 5},
    {"*", OP_MUL, 6}, {"/", OP_DIV, 6},  {"%", OP_MOD, 6},
};

typedef struct function {
    const char *name;
    op op;
    int arguments;
} function;

static const function functions[] = {
    {"ceil_div", OP_CEIL_DIV, 2},
    {"min", OP_MIN, 2},
    {"max", OP_MAX, 2},
    {"next_pow2", OP_NEXT_POW2, 1},
};

/* ---- parse ---- */

static int column_of(const parser *p)
{
    return (int)(p->at - p->text) + 1;
}

static int add_node(expr *tree, op kind, int column, int a, int b)
{
    if (tree->count == tree->cap) {
        tree->cap = tree->cap == 0 ? 16 : 2 * tree->cap;
        tree->nodes = xreallocarray(tree->nodes, (size_t)tree->cap, sizeof *tree->nodes);
    }
    tree->nodes[tree->count] = (node){.op = kind, .column = column, .a = a, .b = b, .c = -1};
    return tree->count++;
}

static void skip_space(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static bool accept(parser *p, const char *token)
{
    skip_space(p);
    size_t size = strlen(token);
    if (strncmp(p->at, token, size) != 0)
        return false;
    p->at += size;
    return true;
}

static int unexpected(const parser *p, const char *expected)
{
    if (*p->at == '\0')
        return err_set(p->e, ERR_CONFIG, "column %d: the expression ends where %s is expected",
                       column_of(p), expected);
    return err_set(p->e, ERR_CONFIG, "column %d: '%c' where %s is expected", column_of(p),
                   *p->at >= 0x20 && *p->at < 0x7f ? *p->at : '?', expected);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* number reads digits; the sign comes in so that INT64_MIN can be written. */
static int number(parser *p, bool negative)
{
    int column = column_of(p);
    if (p->at[0] == '0' && is_digit(p->at[1]))
        return err_set(p->e, ERR_CONFIG, "column %d: a number must not begin with 0", column);
    int64_t value = 0;
    for (; is_digit(*p->at); p->at++) {
        int digit = *p->at - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return err_set(p->e, ERR_CONFIG, "column %d: the number does not fit in 64 bits",
                           column);
    }
    if (is_letter(*p->at) || *p->at == '.')
        return err_set(p->e, ERR_CONFIG, "column %d: not a decimal whole number", column);
    int n = add_node(p->tree, OP_CONST, column, -1, -1);
    p->tree->nodes[n].value = value;
    return n;
}

static int conditional(parser *p);

static int call(parser *p, const function *f, int column)
{
    int arguments[2] = {-1, -1};
    for (int i = 0; i < f->arguments; i++) {
        if (i > 0 && !accept(p, ","))
            return unexpected(p, "','");
        arguments[i] = conditional(p);
        if (arguments[i] < 0)
            return -1;
    }
    if (!accept(p, ")"))
        return unexpected(p, "')'");
    return add_node(p->tree, f->op, column, arguments[0], arguments[1]);
}

static const function *find_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

static bool allowed(const parser *p, const char *name)
{
    if (p->names == NULL)
        return true;
    for (const char *const *n = p->names; *n != NULL; n++)
        if (strcmp(*n, name) == 0)
            return true;
    return false;
}

static int named(parser *p)
{
    int column = column_of(p);
    char name[EXPR_NAME_MAX + 1];
    size_t size = 0;
    for (; is_letter(*p->at) || is_digit(*p->at); p->at++) {
        if (size == EXPR_NAME_MAX)
            return err_set(p->e, ERR_CONFIG, "column %d: a name longer than %d characters", column,
                           EXPR_NAME_MAX);
        name[size++] = *p->at;
    }
    name[size] = '\0';
    const function *f = find_function(name);
    if (accept(p, "("))
        return f != NULL
                   ? call(p, f, column)
                   : err_set(p->e, ERR_CONFIG, "column %d: unknown function %s", column, name);
    if (f != NULL)
        return err_set(p->e, ERR_CONFIG, "column %d: %s is a function and needs arguments", column,
                       name);
    if (!allowed(p, name))
        return err_set(p->e, ERR_CONFIG, "column %d: unknown variable %s", column, name);
    int n = add_node(p->tree, OP_VAR, column, -1, -1);
    memcpy(p->tree->nodes[n].name, name, size + 1);
    return n;
}

static int primary(parser *p)
{
    skip_space(p);
    if (is_digit(*p->at))
        return number(p, false);
    if (is_letter(*p->at))
        return named(p);
    if (!accept(p, "("))
        return unexpected(p, "a value");
    int inner = conditional(p);
    if (inner < 0)
        return -1;
    return accept(p, ")") ? inner : unexpected(p, "')'");
}

static int enter(parser *p)
{
    if (++p->depth > EXPR_DEPTH_MAX)
        return err_set(p->e, ERR_CONFIG, "column %d: nested more than %d deep", column_of(p),
                       EXPR_DEPTH_MAX);
    return 0;
}

static int unary(parser *p)
{
    skip_space(p);
    bool minus = *p->at == '-';
    if (!minus && *p->at != '!')
        return primary(p);
    int column = column_of(p);
    p->at++;
    skip_space(p);
    if (minus && is_digit(*p->at))
        return number(p, true);
    if (enter(p) < 0)
        return -1;
    int inner = unary(p);
    p->depth--;
    return inner < 0 ? -1 : add_node(p->tree, minus ? OP_NEG : OP_NOT, column, inner, -1);
}

static const binary *peek_binary(parser *p)
{
    skip_space(p);
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++)
        if (strncmp(p->at, binaries[i].text, strlen(binaries[i].text)) == 0)
            return &binaries[i];
    return NULL;
}

/* chain parses operators of at least `level`, left-associative. */
static int chain(parser *p, int level)
{
    int left = unary(p);
    for (;;) {
        const binary *o = left < 0 ? NULL : peek_binary(p);
        if (o == NULL || o->level < level)
            return left;
        int column = column_of(p);
        p->at += strlen(o->text);
        int right = chain(p, o->level + 1);
        left = right < 0 ? -1 : add_node(p->tree, o->op, column, left, right);
    }
}

static int branches(parser *p, int condition, int column)
{
    int yes = conditional(p);
    if (yes < 0)
        return -1;
    if (!accept(p, ":"))
        return unexpected(p, "':'");
    int no = conditional(p);
    if (no < 0)
        return -1;
    int n = add_node(p->tree, OP_IF, column, condition, yes);
    p->tree->nodes[n].c = no;
    return n;
}

static int conditional(parser *p)
{
    if (enter(p) < 0)
        return -1;
    int value = chain(p, 1);
    skip_space(p);
    int column = column_of(p);
    if (value >= 0 && accept(p, "?"))
        value = branches(p, value, column);
    p->depth--;
    return value;
}

expr *expr_parse(const char *text, const char *const *names, err *e)
{
    if (strlen(text) > EXPR_TEXT_MAX) {
        err_set(e, ERR_CONFIG, "an expression of %zu bytes; the maximum is %d", strlen(text),
                EXPR_TEXT_MAX);
        return NULL;
    }
    SCOPED(expr_destroy) expr *self = xcalloc(1, sizeof *self);
    parser p = {.text = text, .at = text, .names = names, .tree = self, .e = e};
    self->root = conditional(&p);
    if (self->root < 0)
        return NULL;
    skip_space(&p);
    if (*p.at != '\0') {
        unexpected(&p, "an operator or the end");
        return NULL;
    }
    return TAKE(self);
}

expr *expr_const(int64_t value)
{
    expr *self = xcalloc(1, sizeof *self);
    self->root = add_node(self, OP_CONST, 1, -1, -1);
    self->nodes[self->root].value = value;
    return self;
}

void expr_destroy(expr **self)
{
    expr *tree = TAKE(*self);
    if (tree == NULL)
        return;
    free(tree->nodes);
    free(tree);
}

/* ---- evaluate ---- */

typedef struct scope {
    const expr *tree;
    const expr_var *vars;
    size_t var_count;
    err *e;
} scope;

static int overflow(const scope *s, const node *n)
{
    return err_set(s->e, ERR_CONFIG, "column %d: the result does not fit in 64 bits", n->column);
}

static int lookup(const scope *s, const node *n, int64_t *out)
{
    for (size_t i = 0; i < s->var_count; i++) {
        if (strcmp(s->vars[i].name, n->name) == 0) {
            *out = s->vars[i].value;
            return 0;
        }
    }
    return err_set(s->e, ERR_CONFIG, "column %d: variable %s has no value", n->column, n->name);
}

static int divide(const scope *s, const node *n, int64_t a, int64_t b, int64_t *out)
{
    if (b == 0)
        return err_set(s->e, ERR_CONFIG, "column %d: division by zero", n->column);
    if (b == -1) { /* INT64_MIN / -1 does not fit, and traps, as does its remainder */
        if (n->op == OP_MOD) {
            *out = 0;
            return 0;
        }
        return __builtin_sub_overflow((int64_t)0, a, out) ? overflow(s, n) : 0;
    }
    if (n->op == OP_MOD)
        *out = a % b;
    else if (n->op == OP_DIV)
        *out = a / b;
    else
        *out = a / b + (a % b != 0 && (a < 0) == (b < 0));
    return 0;
}

static int next_pow2(const scope *s, const node *n, int64_t a, int64_t *out)
{
    if (a < 0)
        return err_set(s->e, ERR_CONFIG, "column %d: next_pow2 of a negative number", n->column);
    int64_t power = 1;
    while (power < a)
        if (__builtin_mul_overflow(power, 2, &power))
            return overflow(s, n);
    *out = power;
    return 0;
}

/* strict: both operands are known. */
static int strict(const scope *s, const node *n, int64_t a, int64_t b, int64_t *out)
{
    switch (n->op) {
    case OP_NEG:
        return __builtin_sub_overflow((int64_t)0, a, out) ? overflow(s, n) : 0;
    case OP_ADD:
        return __builtin_add_overflow(a, b, out) ? overflow(s, n) : 0;
    case OP_SUB:
        return __builtin_sub_overflow(a, b, out) ? overflow(s, n) : 0;
    case OP_MUL:
        return __builtin_mul_overflow(a, b, out) ? overflow(s, n) : 0;
    case OP_DIV:
    case OP_MOD:
    case OP_CEIL_DIV:
        return divide(s, n, a, b, out);
    case OP_NEXT_POW2:
        return next_pow2(s, n, a, out);
    case OP_NOT:
        *out = a == 0;
        return 0;
    case OP_EQ:
        *out = a == b;
        return 0;
    case OP_NE:
        *out = a != b;
        return 0;
    case OP_LT:
        *out = a < b;
        return 0;
    case OP_LE:
        *out = a <= b;
        return 0;
    case OP_GT:
        *out = a > b;
        return 0;
    case OP_GE:
        *out = a >= b;
        return 0;
    case OP_MIN:
        *out = a < b ? a : b;
        return 0;
    case OP_MAX:
        *out = a > b ? a : b;
        return 0;
    case OP_CONST:
    case OP_VAR:
    case OP_AND:
    case OP_OR:
    case OP_IF:
        break;
    }
    return err_set(s->e, ERR_INTERNAL, "column %d: unknown operator", n->column);
}

static int eval(const scope *s, int index, int64_t *out);

/* lazy: && || ?: look at the first operand first. */
static int lazy(const scope *s, const node *n, int64_t *out)
{
    int64_t first = 0;
    if (eval(s, n->a, &first) < 0)
        return -1;
    if (n->op == OP_IF)
        return eval(s, first != 0 ? n->b : n->c, out);
    if ((first != 0) == (n->op == OP_OR)) {
        *out = first != 0;
        return 0;
    }
    int64_t second = 0;
    if (eval(s, n->b, &second) < 0)
        return -1;
    *out = second != 0;
    return 0;
}

static int eval(const scope *s, int index, int64_t *out)
{
    const node *n = &s->tree->nodes[index];
    if (n->op == OP_AND || n->op == OP_OR || n->op == OP_IF)
        return lazy(s, n, out);
    if (n->op == OP_VAR)
        return lookup(s, n, out);
    if (n->op == OP_CONST) {
        *out = n->value;
        return 0;
    }
    int64_t a = 0;
    int64_t b = 0;
    if (eval(s, n->a, &a) < 0 || (n->b >= 0 && eval(s, n->b, &b) < 0))
        return -1;
    return strict(s, n, a, b, out);
}

int expr_eval(const expr *self, const expr_var *vars, size_t var_count, int64_t *out, err *e)
{
    scope s = {self, vars, var_count, e};
    int64_t value = 0;
    if (eval(&s, self->root, &value) < 0)
        return -1;
    *out = value;
    return 0;
}

bool expr_uses(const expr *self, const char *name)
{
    for (int i = 0; i < self->count; i++)
        if (self->nodes[i].op == OP_VAR && strcmp(self->nodes[i].name, name) == 0)
            return true;
    return false;
}
