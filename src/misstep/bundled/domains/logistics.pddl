; Parcels go by truck inside a city and by plane between airports; `at` takes an either type.
(define (domain logistics)
  (:requirements :strips :typing)
  (:types city place vehicle parcel - object airport - place truck plane - vehicle)
  (:predicates
    (at ?x - (either vehicle parcel) ?p - place)
    (inside ?o - parcel ?v - vehicle)
    (part-of ?p - place ?c - city))
  (:action load
    :parameters (?o - parcel ?v - vehicle ?p - place)
    :precondition (and (at ?o ?p) (at ?v ?p))
    :effect (and (inside ?o ?v) (not (at ?o ?p))))
  (:action unload
    :parameters (?o - parcel ?v - vehicle ?p - place)
    :precondition (and (inside ?o ?v) (at ?v ?p))
    :effect (and (at ?o ?p) (not (inside ?o ?v))))
  (:action drive
    :parameters (?t - truck ?from ?to - place ?c - city)
    :precondition (and (at ?t ?from) (part-of ?from ?c) (part-of ?to ?c))
    :effect (and (at ?t ?to) (not (at ?t ?from))))
  (:action fly
    :parameters (?a - plane ?from ?to - airport)
    :precondition (at ?a ?from)
    :effect (and (at ?a ?to) (not (at ?a ?from)))))
