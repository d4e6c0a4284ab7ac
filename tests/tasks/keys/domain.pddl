; A walker fetches keys to open doors; a key opens every door of its shape and breaks in the lock.
(define (domain keys)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types place key shape)
  (:predicates
    (path ?a ?b - place) (here ?p - place) (lies ?k - key ?p - place) (holds ?k - key)
    (fits ?k - key ?s - shape) (lock ?p - place ?s - shape) (shut ?p - place))
  (:action go
    :parameters (?a ?b - place)
    :precondition (and (here ?a) (path ?a ?b) (not (shut ?b)) (not (= ?a ?b)))
    :effect (and (here ?b) (not (here ?a))))
  (:action grab
    :parameters (?k - key ?p - place)
    :precondition (and (here ?p) (lies ?k ?p))
    :effect (and (holds ?k) (not (lies ?k ?p))))
  (:action leave
    :parameters (?k - key ?p - place)
    :precondition (and (here ?p) (holds ?k))
    :effect (and (lies ?k ?p) (not (holds ?k))))
  (:action unlock
    :parameters (?k - key ?s - shape ?a ?b - place)
    :precondition (and (here ?a) (path ?a ?b) (holds ?k) (fits ?k ?s) (lock ?b ?s) (shut ?b))
    :effect (and (not (shut ?b)) (not (holds ?k)))))
