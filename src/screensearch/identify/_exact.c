/* The compiled core of the `exact` identifier: every state over the threshold, none missed.
 *
 * `exact_python.py` is its twin: same interface, same answers. Both decide in integers, so that
 * a score exactly at the threshold is decided the same way everywhere.
 *
 * A screen is two sets of atoms. Inside, an atom is a token, 2*id + kind (0 role, 1 text): one
 * descending array of tokens is both sets at once, newest atom first.
 *
 * The rule, for weights a, b (a + b = whole) and threshold c, all integers:
 *
 *     a*J_r + b*J_t >= c,   J = shared / union,   J(empty, empty) = 1.
 *
 * With e = whole - c this is a*(1-J_r) + b*(1-J_t) <= e, and everything below follows.
 *
 *  1. Prefix. 1-J >= missing/|x|, where `missing` counts the atoms of x that y lacks. A missing role
 *     atom costs at least a/|x_r|, a text atom b/|x_t|, and the budget is e: spending it on the cheaper
 *     kind first gives the most atoms, k(x), that a match may lack. Let z be the first atom, in one
 *     global order, that x and y share: at most k(x) atoms of x and k(y) of y precede it, so z is among
 *     the first k+1 of both. Only those are indexed and looked up. The order is newest first: atoms
 *     that every screen has (a title bar, a menu bar) are old, come last, and are hardly ever indexed.
 *  2. Difference. union <= |x|/J, so |x_r ^ y_r| <= |x_r|*(1-J_r)/J_r, which is convex: the most that
 *     the budget can buy over both kinds is at a corner, d(x) = max(|x_r|*e/(a-e), |x_t|*e/(b-e)),
 *     unbounded when e >= a or e >= b. Two tests in the posting itself use it: positions (all atoms
 *     before the first shared one differ) and a sketch (64 parities of hashed atoms: the number of
 *     differing bits never exceeds the number of differing atoms).
 *  3. Sizes. J <= smaller/larger, kind by kind.
 *  4. No shared atom. Then a match needs a kind that is empty on both sides and weighs at least c, or
 *     two wholly empty screens. Such states are kept in short lists of their own.
 *
 * Atoms of a kind with weight 0 take no part in 1-3.
 *
 * A search may go on where an earlier one stopped. States never change, and "better" is a total order
 * (score, then age), so the best two of all states are the best two among the two that were found before
 * and the states added since. Lists of states ascend: where the later ones begin is a bisection.
 *
 * All methods hold the interpreter's lock from start to end: an index is never seen half changed. A
 * failed allocation raises MemoryError and leaves the index as it was. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#ifndef __SIZEOF_INT128__
#error "the compiled core needs 128-bit integers; the pure-Python twin serves other compilers"
#endif

typedef unsigned __int128 uint128;

#define NONE UINT32_MAX                /* no state, no block, no token */
#define MOST_ATOMS (1u << 24)          /* of one kind on one screen: keeps the products within 128 bits */
#define MOST_WEIGHT (1u << 20)         /* likewise for the common denominator of weights and threshold */
#define UNBOUNDED UINT64_MAX

/* --- the index ---------------------------------------------------------------------------------- */

typedef struct {
    uint64_t start; /* of its tokens in the arena */
    uint32_t roles, texts;
} State;

typedef struct {
    uint32_t state;
    uint32_t position; /* atoms of the state before this one, in the global order */
    uint64_t sketch;
} Posting;

typedef struct { /* the postings of one token: a block whose room is the next power of two */
    uint32_t token, count, block;
} Head;

typedef struct {
    uint32_t state, shared_roles, union_roles, shared_texts, union_texts;
} Found;

typedef struct {
    Found best, second;
} Pair;

typedef struct {
    void *items;
    size_t count, room;
} List;

typedef struct {
    PyObject_HEAD
    uint32_t weights[2], whole, threshold;
    List states;   /* State */
    List stamps;   /* uint32_t: the last search that looked at this state */
    List tokens;   /* uint32_t */
    List postings; /* Posting */
    List bare[3];  /* uint32_t: states without roles, without texts, without either (rule 4) */
    List scratch;  /* uint32_t: the query's tokens, and room to sort them */
    Head *heads;
    size_t head_count, head_room;
    uint32_t free_blocks[33];
    uint32_t search;
} Index;

typedef struct {
    const uint32_t *tokens;
    uint32_t count, roles, texts;
    uint64_t sketch, lacking, difference; /* bounds 1 and 2 */
} Query;

static uint64_t mix(uint64_t value) {
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9ull;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

static int bits(uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555ull;
    word = (word & 0x3333333333333333ull) + ((word >> 2) & 0x3333333333333333ull);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (int)((word * 0x0101010101010101ull) >> 56);
}

static int reserve(List *list, size_t extra, size_t size) {
    if (extra <= list->room - list->count) return 0;
    size_t most = (size_t)PY_SSIZE_T_MAX / size;
    if (extra > most - list->count) goto exhausted;
    size_t wanted = list->count + extra, room = list->room + list->room / 4 + 16;
    if (room < wanted) room = wanted;
    if (room > most) room = wanted;
    void *items = PyMem_RawRealloc(list->items, room * size);
    if (!items) goto exhausted;
    list->items = items;
    list->room = room;
    return 0;
exhausted:
    PyErr_NoMemory();
    return -1;
}

/* --- bounds ------------------------------------------------------------------------------------- */

/* The most atoms that a match may lack (1): the budget spent on the cheaper kind first. */
static uint64_t most_lacking(const Index *index, uint64_t roles, uint64_t texts) {
    uint64_t budget = index->whole - index->threshold;
    uint64_t cost[2] = {index->weights[0], index->weights[1]}, size[2] = {roles, texts};
    int first = cost[0] * texts <= cost[1] * roles ? 0 : 1;
    if (!cost[first] || !size[first]) first = !first;
    if (!cost[first] || !size[first]) return 0;
    if (budget < cost[first]) return budget * size[first] / cost[first];
    uint64_t most = size[first];
    budget -= cost[first];
    int second = !first;
    if (!cost[second] || !size[second]) return most;
    return most + (budget < cost[second] ? budget * size[second] / cost[second] : size[second]);
}

/* The most atoms, of either screen, that a match may not share (2). */
static uint64_t most_different(const Index *index, uint64_t roles, uint64_t texts) {
    uint64_t budget = index->whole - index->threshold, size[2] = {roles, texts}, most = 0;
    for (int kind = 0; kind < 2; kind++) {
        uint64_t cost = index->weights[kind];
        if (!cost) continue;
        if (budget >= cost) return UNBOUNDED;
        uint64_t bound = budget * size[kind] / (cost - budget);
        if (bound > most) most = bound;
    }
    return most;
}

static uint128 score_times(const Index *index, const Found *found, uint64_t union_roles, uint64_t union_texts) {
    return (uint128)index->weights[0] * found->shared_roles * union_texts +
           (uint128)index->weights[1] * found->shared_texts * union_roles;
}

/* The score of a pair, as a fraction over whole*union_roles*union_texts; two empty sets are 1/1. */
static int passes(const Index *index, const Found *found) {
    uint128 score = score_times(index, found, found->union_roles, found->union_texts);
    return score >= (uint128)index->threshold * found->union_roles * found->union_texts;
}

static int better(const Index *index, const Found *one, const Found *other) {
    if (other->state == NONE) return 1;
    uint128 left = score_times(index, one, one->union_roles, one->union_texts) *
                   ((uint64_t)other->union_roles * other->union_texts);
    uint128 right = score_times(index, other, other->union_roles, other->union_texts) *
                    ((uint64_t)one->union_roles * one->union_texts);
    return left > right || (left == right && one->state < other->state);
}

/* --- the query ---------------------------------------------------------------------------------- */

static int read_atoms(PyObject *object, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) return -1;
    if (view->itemsize != 4 || !view->format || strcmp(view->format, "I") != 0 || view->ndim != 1) {
        PyErr_Format(PyExc_TypeError, "atoms must be a flat buffer of 32-bit unsigned integers, not %.80s",
                     view->format ? view->format : "bytes");
        PyBuffer_Release(view);
        return -1;
    }
    if (view->len / 4 >= (Py_ssize_t)MOST_ATOMS) {
        PyErr_Format(PyExc_ValueError, "a screen of %zd atoms is over the limit of %u", view->len / 4, MOST_ATOMS - 1);
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

static int load(Index *index, PyObject *roles, PyObject *texts, Query *query) {
    Py_buffer views[2];
    if (read_atoms(roles, &views[0]) < 0) return -1;
    if (read_atoms(texts, &views[1]) < 0) {
        PyBuffer_Release(&views[0]);
        return -1;
    }
    size_t total = (size_t)(views[0].len + views[1].len) / 4;
    int status = reserve(&index->scratch, 2 * total + 1, sizeof(uint32_t));
    uint32_t *out = index->scratch.items;
    for (uint32_t kind = 0; status == 0 && kind < 2; kind++) {
        const uint32_t *atoms = views[kind].buf;
        size_t count = (size_t)views[kind].len / 4;
        uint32_t highest = 0;
        for (size_t i = 0; i < count; i++) {
            highest |= atoms[i] == INT32_MAX ? 1u << 31 : atoms[i];
            *out++ = atoms[i] << 1 | kind;
        }
        if (highest >> 31) {
            PyErr_SetString(PyExc_ValueError, "an atom's number must be below 2**31 - 1");
            status = -1;
        }
    }
    query->tokens = index->scratch.items;
    query->count = (uint32_t)total;
    query->roles = (uint32_t)(views[0].len / 4);
    query->texts = (uint32_t)(views[1].len / 4);
    PyBuffer_Release(&views[0]);
    PyBuffer_Release(&views[1]);
    return status;
}

/* Descending, by bytes; a pass whose byte is the same everywhere is skipped. */
static uint32_t *sort_tokens(uint32_t *tokens, uint32_t *spare, size_t count) {
    size_t places[4][256];
    if (count < 32) {
        for (size_t i = 1; i < count; i++) {
            uint32_t token = tokens[i];
            size_t j = i;
            for (; j && tokens[j - 1] < token; j--) tokens[j] = tokens[j - 1];
            tokens[j] = token;
        }
        return tokens;
    }
    memset(places, 0, sizeof places);
    for (size_t i = 0; i < count; i++)
        for (int byte = 0; byte < 4; byte++) places[byte][tokens[i] >> (8 * byte) & 255]++;
    for (int byte = 0; byte < 4; byte++) {
        if (places[byte][tokens[0] >> (8 * byte) & 255] == count) continue;
        size_t place = 0;
        for (int value = 255; value >= 0; value--) {
            size_t here = places[byte][value];
            places[byte][value] = place;
            place += here;
        }
        for (size_t i = 0; i < count; i++) spare[places[byte][tokens[i] >> (8 * byte) & 255]++] = tokens[i];
        uint32_t *swap = tokens;
        tokens = spare;
        spare = swap;
    }
    return tokens;
}

/* Sorts the tokens, counts repeats once and computes the bounds. */
static void prepare(const Index *index, Query *query) {
    uint32_t *unsorted = index->scratch.items;
    uint32_t *tokens = sort_tokens(unsorted, unsorted + query->count, query->count);
    uint32_t kept = 0, sizes[2] = {0, 0};
    uint64_t sketch = 0;
    for (uint32_t i = 0; i < query->count; i++) {
        uint32_t token = tokens[i];
        if (kept && tokens[kept - 1] == token) continue;
        tokens[kept++] = token;
        sizes[token & 1]++;
        if (index->weights[token & 1]) sketch ^= 1ull << (mix(token) >> 58);
    }
    query->tokens = tokens;
    query->count = kept;
    query->roles = sizes[0];
    query->texts = sizes[1];
    query->sketch = sketch;
    query->lacking = most_lacking(index, sizes[0], sizes[1]);
    query->difference = most_different(index, sizes[0], sizes[1]);
}

/* --- search ------------------------------------------------------------------------------------- */

static const Head *head_of(const Index *index, uint32_t token) {
    if (!index->head_room) return NULL;
    for (size_t place = mix(token) & (index->head_room - 1);; place = (place + 1) & (index->head_room - 1)) {
        const Head *head = &index->heads[place];
        if (head->token == token) return head;
        if (head->token == NONE) return NULL;
    }
}

static uint32_t smaller(uint32_t one, uint32_t other) { return one < other ? one : other; }
static uint32_t larger(uint32_t one, uint32_t other) { return one < other ? other : one; }

/* Counts what is shared; gives up (returns 0) once more tokens differ than `allowed`. */
static int overlap(const Index *index, const Query *query, uint32_t number, uint64_t allowed, Found *found) {
    const State *state = (const State *)index->states.items + number;
    const uint32_t *mine = query->tokens, *mine_end = mine + query->count;
    const uint32_t *theirs = (const uint32_t *)index->tokens.items + state->start;
    const uint32_t *theirs_end = theirs + state->roles + state->texts;
    uint64_t shared = 0, texts = 0;
    while (mine < mine_end && theirs < theirs_end) {
        size_t steps = mine_end - mine < theirs_end - theirs ? (size_t)(mine_end - mine) : (size_t)(theirs_end - theirs);
        if (steps > 64) steps = 64;
        for (; steps; steps--) {
            uint32_t one = *mine, other = *theirs;
            uint32_t same = one == other;
            shared += same;
            texts += same & one;
            mine += one >= other;
            theirs += other >= one;
        }
        uint64_t seen = (uint64_t)(mine - query->tokens) +
                        (uint64_t)(theirs - ((const uint32_t *)index->tokens.items + state->start));
        if (seen - 2 * shared > allowed) return 0;
    }
    found->state = number;
    found->shared_roles = (uint32_t)(shared - texts);
    found->shared_texts = (uint32_t)texts;
    found->union_roles = query->roles + state->roles - found->shared_roles;
    found->union_texts = query->texts + state->texts - found->shared_texts;
    if (!found->union_roles) found->shared_roles = found->union_roles = 1;
    if (!found->union_texts) found->shared_texts = found->union_texts = 1;
    return 1;
}

static void consider(Index *index, const Query *query, uint32_t number, Pair *pair) {
    uint32_t *stamps = index->stamps.items;
    if (stamps[number] == index->search) return;
    stamps[number] = index->search;
    const State *state = (const State *)index->states.items + number;
    Found found = {number, smaller(query->roles, state->roles), larger(query->roles, state->roles),
                   smaller(query->texts, state->texts), larger(query->texts, state->texts)};
    if (!found.union_roles) found.shared_roles = found.union_roles = 1;
    if (!found.union_texts) found.shared_texts = found.union_texts = 1;
    if (!passes(index, &found)) return; /* the best that these sizes allow (3) */
    /* Differing atoms of a kind without weight are free: then nothing bounds the count. */
    uint64_t allowed = index->weights[0] && index->weights[1] ? query->difference : UNBOUNDED;
    if (!overlap(index, query, number, allowed, &found) || !passes(index, &found)) return;
    if (better(index, &found, &pair->best)) {
        pair->second = pair->best;
        pair->best = found;
    } else if (better(index, &found, &pair->second)) {
        pair->second = found;
    }
}

static void begin_search(Index *index, Pair *pair) {
    pair->best.state = pair->second.state = NONE;
    if (++index->search == 0) {
        memset(index->stamps.items, 0, index->stamps.count * sizeof(uint32_t));
        index->search = 1;
    }
}

static size_t first_bare(const List *list, size_t since) {
    const uint32_t *states = list->items;
    size_t low = 0, high = since ? list->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (states[middle] < since) low = middle + 1;
        else high = middle;
    }
    return low;
}

static const Posting *first_posting(const Posting *postings, size_t count, size_t since) {
    size_t low = 0, high = since ? count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (postings[middle].state < since) low = middle + 1;
        else high = middle;
    }
    return postings + low;
}

/* Goes through the states from `since` on. */
static void search(Index *index, const Query *query, size_t since, Pair *pair) {
    for (int list = 0; list < 3; list++) {
        if ((list != 1 && query->roles) || (list != 0 && query->texts)) continue;
        const List *bare = &index->bare[list];
        for (size_t i = first_bare(bare, since); i < bare->count; i++)
            consider(index, query, ((const uint32_t *)bare->items)[i], pair);
    }
    uint64_t position = 0;
    for (uint32_t i = 0; i < query->count && position <= query->lacking; i++) {
        uint32_t token = query->tokens[i];
        if (!index->weights[token & 1]) continue;
        const Head *head = head_of(index, token);
        if (head) {
            const Posting *block = (const Posting *)index->postings.items + head->block;
            const Posting *posting = first_posting(block, head->count, since);
            for (const Posting *end = block + head->count; posting < end; posting++) {
                if (position + posting->position > query->difference) continue;
                if ((uint64_t)bits(posting->sketch ^ query->sketch) > query->difference) continue;
                consider(index, query, posting->state, pair);
            }
        }
        position++;
    }
}

/* --- growth ------------------------------------------------------------------------------------- */

static uint32_t room_class(uint32_t count) {
    uint32_t class = 0;
    while ((1ull << class) < count) class++;
    return class;
}

static int reserve_heads(Index *index, size_t extra) {
    if ((index->head_count + extra) * 4 <= index->head_room * 3) return 0;
    size_t room = index->head_room ? index->head_room : 64;
    while ((index->head_count + extra) * 4 > room * 3) room *= 2;
    Head *heads = PyMem_RawMalloc(room * sizeof(Head));
    if (!heads) {
        PyErr_NoMemory();
        return -1;
    }
    memset(heads, 0xff, room * sizeof(Head));
    for (size_t i = 0; i < index->head_room; i++) {
        if (index->heads[i].token == NONE) continue;
        size_t place = mix(index->heads[i].token) & (room - 1);
        while (heads[place].token != NONE) place = (place + 1) & (room - 1);
        heads[place] = index->heads[i];
    }
    PyMem_RawFree(index->heads);
    index->heads = heads;
    index->head_room = room;
    return 0;
}

/* A block of the given class; the room was reserved, so this cannot fail. */
static uint32_t take_block(Index *index, uint32_t class) {
    Posting *postings = index->postings.items;
    uint32_t block = index->free_blocks[class];
    if (block != NONE) {
        index->free_blocks[class] = postings[block].state;
        return block;
    }
    block = (uint32_t)index->postings.count;
    index->postings.count += (size_t)1 << class;
    return block;
}

static void post(Index *index, uint32_t token, Posting posting) {
    size_t place = mix(token) & (index->head_room - 1);
    while (index->heads[place].token != token && index->heads[place].token != NONE)
        place = (place + 1) & (index->head_room - 1);
    Head *head = &index->heads[place];
    Posting *postings = index->postings.items;
    if (head->token == NONE) {
        *head = (Head){token, 0, take_block(index, 0)};
        index->head_count++;
    } else if ((head->count & (head->count - 1)) == 0) { /* a power of two: the block is full */
        uint32_t class = room_class(head->count), old = head->block;
        head->block = take_block(index, class + 1);
        memcpy(postings + head->block, postings + old, head->count * sizeof(Posting));
        postings[old].state = index->free_blocks[class];
        index->free_blocks[class] = old;
    }
    postings[head->block + head->count++] = posting;
}

/* Makes room for everything first, so that a failure changes nothing. */
static int add_state(Index *index, const Query *query) {
    if (index->states.count >= NONE - 1) {
        PyErr_SetString(PyExc_OverflowError, "an index holds fewer than 2**32 - 2 states");
        return -1;
    }
    size_t prefix = 0, room = 0;
    for (uint32_t i = 0; i < query->count && prefix <= query->lacking; i++) {
        if (!index->weights[query->tokens[i] & 1]) continue;
        const Head *head = head_of(index, query->tokens[i]);
        if (!head) room++;
        else if ((head->count & (head->count - 1)) == 0) room += 2 * (size_t)head->count;
        prefix++;
    }
    if (index->postings.count + room >= NONE) {
        PyErr_SetString(PyExc_OverflowError, "an index holds fewer than 2**32 - 1 postings");
        return -1;
    }
    if (reserve(&index->states, 1, sizeof(State)) < 0 || reserve(&index->stamps, 1, sizeof(uint32_t)) < 0 ||
        reserve(&index->tokens, query->count + 1, sizeof(uint32_t)) < 0 ||
        reserve(&index->postings, room, sizeof(Posting)) < 0 || reserve_heads(index, prefix) < 0)
        return -1;
    int bare[3] = {!query->roles && index->weights[0] >= index->threshold,
                   !query->texts && index->weights[1] >= index->threshold, !query->roles && !query->texts};
    for (int list = 0; list < 3; list++)
        if (bare[list] && reserve(&index->bare[list], 1, sizeof(uint32_t)) < 0) return -1;

    uint32_t number = (uint32_t)index->states.count;
    ((State *)index->states.items)[index->states.count++] = (State){index->tokens.count, query->roles, query->texts};
    ((uint32_t *)index->stamps.items)[index->stamps.count++] = 0;
    memcpy((uint32_t *)index->tokens.items + index->tokens.count, query->tokens, query->count * sizeof(uint32_t));
    index->tokens.count += query->count;
    for (int list = 0; list < 3; list++)
        if (bare[list]) ((uint32_t *)index->bare[list].items)[index->bare[list].count++] = number;
    uint32_t position = 0;
    for (uint32_t i = 0; position < prefix; i++) {
        if (!index->weights[query->tokens[i] & 1]) continue;
        post(index, query->tokens[i], (Posting){number, position, query->sketch});
        position++;
    }
    return 0;
}

/* --- Python ------------------------------------------------------------------------------------- */

static PyObject *found_tuple(const Found *found) {
    return Py_BuildValue("(IIIII)", found->state, found->shared_roles, found->union_roles, found->shared_texts,
                         found->union_texts);
}

/* (the best, the runner-up or None), or None */
static PyObject *answer(const Pair *pair) {
    if (pair->best.state == NONE) Py_RETURN_NONE;
    PyObject *runner_up = pair->second.state == NONE ? Py_NewRef(Py_None) : found_tuple(&pair->second);
    if (!runner_up) return NULL;
    return Py_BuildValue("(NN)", found_tuple(&pair->best), runner_up);
}

static int two(PyObject *const *arguments, Py_ssize_t count, const char *name) {
    (void)arguments;
    if (count == 2) return 0;
    PyErr_Format(PyExc_TypeError, "%s takes the role atoms and the text atoms", name);
    return -1;
}

static PyObject *index_find(Index *self, PyObject *const *arguments, Py_ssize_t count) {
    Query query;
    Pair pair;
    if (two(arguments, count, "find()") < 0 || load(self, arguments[0], arguments[1], &query) < 0) return NULL;
    prepare(self, &query);
    begin_search(self, &pair);
    search(self, &query, 0, &pair);
    return answer(&pair);
}

/* The number of a state of this index. */
static int read_state(const Index *index, PyObject *object, size_t *number) {
    *number = PyLong_AsSize_t(object);
    if (*number == (size_t)-1 && PyErr_Occurred()) return -1;
    if (*number < index->states.count) return 0;
    PyErr_Format(PyExc_IndexError, "no state %zu: the index holds %zu", *number, index->states.count);
    return -1;
}

static PyObject *index_find_since(Index *self, PyObject *const *arguments, Py_ssize_t count) {
    Query query;
    Pair pair;
    size_t number;
    if (count < 3) {
        PyErr_SetString(PyExc_TypeError, "find_since() takes a count of states, the role atoms, the text atoms "
                                         "and the states found before");
        return NULL;
    }
    size_t since = PyLong_AsSize_t(arguments[0]);
    if (since == (size_t)-1 && PyErr_Occurred()) return NULL;
    for (Py_ssize_t i = 3; i < count; i++)
        if (read_state(self, arguments[i], &number) < 0) return NULL;
    if (load(self, arguments[1], arguments[2], &query) < 0) return NULL;
    prepare(self, &query);
    begin_search(self, &pair);
    for (Py_ssize_t i = 3; i < count; i++)
        if (read_state(self, arguments[i], &number) == 0) consider(self, &query, (uint32_t)number, &pair);
    search(self, &query, since, &pair);
    return answer(&pair);
}

static PyObject *index_add(Index *self, PyObject *const *arguments, Py_ssize_t count) {
    Query query;
    if (two(arguments, count, "add()") < 0 || load(self, arguments[0], arguments[1], &query) < 0) return NULL;
    prepare(self, &query);
    if (add_state(self, &query) < 0) return NULL;
    return PyLong_FromSize_t(self->states.count - 1);
}

static PyObject *index_compare(Index *self, PyObject *const *arguments, Py_ssize_t count) {
    Query query;
    Found found;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "compare() takes a state, the role atoms and the text atoms");
        return NULL;
    }
    size_t number;
    if (read_state(self, arguments[0], &number) < 0) return NULL;
    if (load(self, arguments[1], arguments[2], &query) < 0) return NULL;
    prepare(self, &query);
    overlap(self, &query, (uint32_t)number, UNBOUNDED, &found);
    return found_tuple(&found);
}

static size_t list_bytes(const List *list, size_t size) { return list->room * size; }

static PyObject *index_nbytes(Index *self, void *closure) {
    (void)closure;
    size_t total = sizeof(Index) + list_bytes(&self->states, sizeof(State)) +
                   list_bytes(&self->stamps, sizeof(uint32_t)) + list_bytes(&self->tokens, sizeof(uint32_t)) +
                   list_bytes(&self->postings, sizeof(Posting)) + list_bytes(&self->scratch, sizeof(uint32_t)) +
                   self->head_room * sizeof(Head);
    for (int list = 0; list < 3; list++) total += list_bytes(&self->bare[list], sizeof(uint32_t));
    return PyLong_FromSize_t(total);
}

static Py_ssize_t index_length(PyObject *self) { return (Py_ssize_t)((Index *)self)->states.count; }

static PyObject *index_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"role_weight", "text_weight", "threshold", NULL};
    unsigned long long role, text, threshold;
    PyObject *given[3];
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!O!", names, &PyLong_Type, &given[0], &PyLong_Type,
                                     &given[1], &PyLong_Type, &given[2]))
        return NULL;
    role = PyLong_AsUnsignedLongLong(given[0]);
    text = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongLong(given[1]);
    threshold = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongLong(given[2]);
    if (PyErr_Occurred()) return NULL;
    if (role > MOST_WEIGHT || text > MOST_WEIGHT || role + text > MOST_WEIGHT || !threshold || threshold > role + text) {
        PyErr_Format(PyExc_ValueError,
                     "weights %llu + %llu must not exceed %u, and the threshold %llu must be 1 to their sum", role,
                     text, MOST_WEIGHT, threshold);
        return NULL;
    }
    Index *self = (Index *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->weights[0] = (uint32_t)role;
    self->weights[1] = (uint32_t)text;
    self->whole = (uint32_t)(role + text);
    self->threshold = (uint32_t)threshold;
    memset(self->free_blocks, 0xff, sizeof self->free_blocks);
    return (PyObject *)self;
}

static void index_dealloc(Index *self) {
    List *lists[] = {&self->states,  &self->stamps,  &self->tokens,  &self->postings,
                     &self->bare[0], &self->bare[1], &self->bare[2], &self->scratch};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) PyMem_RawFree(lists[i]->items);
    PyMem_RawFree(self->heads);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef methods[] = {
    {"find", (PyCFunction)(void (*)(void))index_find, METH_FASTCALL,
     "find(roles, texts): the best state over the threshold, and the runner-up; None when there is none."},
    {"find_since", (PyCFunction)(void (*)(void))index_find_since, METH_FASTCALL,
     "find_since(since, roles, texts, *found): the same among the states from `since` on and those found before."},
    {"add", (PyCFunction)(void (*)(void))index_add, METH_FASTCALL,
     "add(roles, texts): found the next state and return its number."},
    {"compare", (PyCFunction)(void (*)(void))index_compare, METH_FASTCALL,
     "compare(state, roles, texts): the overlaps with a state's founding screen, whatever the threshold."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"nbytes", (getter)index_nbytes, NULL, "Bytes allocated by this index.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PySequenceMethods sequence = {.sq_length = index_length};

static PyTypeObject IndexType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "screensearch.identify._exact.ExactIndex",
    .tp_doc = "ExactIndex(role_weight, text_weight, threshold): the states of one pool, by their atoms.",
    .tp_basicsize = sizeof(Index),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = index_new,
    .tp_dealloc = (destructor)index_dealloc,
    .tp_methods = methods,
    .tp_getset = properties,
    .tp_as_sequence = &sequence,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_exact", "The compiled core of the exact identifier.", -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__exact(void) {
    if (PyType_Ready(&IndexType) < 0) return NULL;
    PyObject *self = PyModule_Create(&module);
    if (self && PyModule_AddObjectRef(self, "ExactIndex", (PyObject *)&IndexType) < 0) Py_CLEAR(self);
    return self;
}
