(define (problem keys-04)
  (:domain keys)
  (:objects
    hall a b c d - place
    k1 k2 - key
    round - shape
  )
  (:init
    (here hall)
    (path hall a)
    (path a hall)
    (path hall b)
    (path b hall)
    (path hall c)
    (path c hall)
    (path c d)
    (path d c)
    (lies k1 a)
    (fits k1 round)
    (lies k2 b)
    (fits k2 round)
    (lock c round)
    (shut c)
    (lock d round)
    (shut d)
  )
  (:goal (and
    (here d)
  )))
